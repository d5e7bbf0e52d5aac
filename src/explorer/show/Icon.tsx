const paths = {
  copy: "M6 6V3.5h7v7h-2.5M3 6h7v7H3z",
  done: "m3 8.5 3.2 3.2L13 5",
  search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9Zm3.4 7.9L14 14",
  sun: "M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6ZM8 1v1.6M8 13.4V15M1 8h1.6M13.4 8H15M3 3l1.2 1.2M11.8 11.8 13 13M3 13l1.2-1.2M11.8 4.2 13 3",
  moon: "M13.5 9.7A5.8 5.8 0 0 1 6.3 2.5a5.8 5.8 0 1 0 7.2 7.2Z",
  system: "M2 3h12v8H2zM6 13.5h4",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  play: "m5 3 8 5-8 5z",
  plus: "M8 3v10M3 8h10",
  minus: "M3 8h10",
  latest: "m3.5 3.5 5 4.5-5 4.5M12.5 3.5v9",
} as const

/** A line drawing that repeats the adjacent text. */
export const Icon = ({ name }: { readonly name: keyof typeof paths }) => (
  <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
    <path
      d={paths[name]}
      fill="none"
      stroke="currentColor"
      stroke-width="1.5"
      stroke-linejoin="round"
      stroke-linecap="round"
    />
  </svg>
)

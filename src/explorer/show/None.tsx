/** A value that is absent. */
export const None = () => <span class="quiet none">–</span>

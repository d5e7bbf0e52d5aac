/** Explains the marks in the picture. */
export const Legend = () => (
  <ul class="legend" aria-label="Signs">
    <li>
      <i class="sign pending" aria-hidden="true" /> not ordered yet
    </li>
    <li>
      <i class="sign even" aria-hidden="true" />
      <i class="sign odd" aria-hidden="true" /> ordered, colours alternate by commit
    </li>
    <li>
      <i class="sign leader" aria-hidden="true" /> committed leader
    </li>
    <li>
      <i class="sign awaited" aria-hidden="true" /> leader, undecided
    </li>
    <li>
      <i class="sign skipped" aria-hidden="true" /> skipped leader
    </li>
    <li>
      <i class="sign full" aria-hidden="true" /> with transactions
    </li>
    <li>
      <i class="sign vote" aria-hidden="true" /> vote for a leader
    </li>
    <li>
      <i class="sign older" aria-hidden="true" /> parent in an older round
    </li>
    <li>
      <i class="sign dropped" aria-hidden="true" /> dropped, since its epoch closed first
    </li>
  </ul>
)

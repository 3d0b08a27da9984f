/** Regular expressions of the tests that do not run, among what `selectTests` leaves out. */
export function titlesOf(leftOut) {
  return leftOut
    .map(({ title }) => title)
    .filter((title) => title !== '')
    .map(RegExp.escape);
}

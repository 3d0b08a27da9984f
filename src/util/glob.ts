/**
 * Does a text match one of these globs, as a whole? `*` stands for any characters, `?` for one; there is nothing else, since the names
 * of namespaces hold nothing else.
 */
export function matchesGlob(text: string, globs: readonly string[]): boolean {
  return globs.some((glob) => matches(text, glob));
}

/** In linear space and without backtracking beyond the last `*`: globs may come from anybody. */
function matches(text: string, glob: string): boolean {
  let at = 0;
  let inGlob = 0;
  let star = -1;
  let starAt = 0;
  while (at < text.length) {
    const wanted = glob[inGlob];
    if (wanted === '*') {
      star = inGlob++;
      starAt = at;
    } else if (wanted !== undefined && (wanted === '?' || wanted === text[at])) {
      at++;
      inGlob++;
    } else if (star >= 0) {
      inGlob = star + 1;
      at = ++starAt;
    } else return false;
  }
  while (glob[inGlob] === '*') inGlob++;
  return inGlob === glob.length;
}

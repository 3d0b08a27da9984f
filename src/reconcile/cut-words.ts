/** At most `maxCharacters` of a text: cut at a word where there is one to cut at, with an ellipsis in place of the rest. */
export function cutWords(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  const head = text.slice(0, maxCharacters);
  const word = Math.max(head.lastIndexOf(' '), head.lastIndexOf('\n'));
  // A word that takes half of it is cut itself, but never between the halves of a character.
  const kept =
    word * 2 >= maxCharacters
      ? head.slice(0, word).trimEnd()
      : head.slice(0, -1).replace(/[\uD800-\uDBFF]$/, '');
  return `${kept}…`;
}

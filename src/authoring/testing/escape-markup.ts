/** A text as content of XML or HTML, also within double quotes. What XML does not permit, such as control characters, is replaced. */
export function escapeMarkup(text: string): string {
  return text
    .toWellFormed()
    .replace(/(?![\t\n\r])[\p{Cc}\uFFFE\uFFFF]/gu, '\uFFFD')
    .replace(/[&<>"]/g, (character) => entities[character] ?? character);
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

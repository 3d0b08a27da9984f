/** Does a text hold an expression, `${ }` or `{{ }}`? Escaped ones do not count. */
export function holdsExpression(text: string): boolean {
  return /(?<!\$)\$\{|(?<!\\)\{\{/.test(text);
}

/** Is a text one `${ }` and nothing else, as far as can be told without parsing it? */
export function isLoneExpression(text: string): boolean {
  const trimmed = text.trim();
  return trimmed.startsWith('${') && trimmed.endsWith('}');
}

/** Why a text is no JSON object, in the words of the server; undefined for an object. The positions of deeper errors are not searched for. */
export function jsonObjectProblem(text: string): string | undefined {
  const trimmed = text.trim();
  const [first = '', second = ''] = trimmed;
  if (trimmed === '') return 'unexpected end of JSON input';
  const value = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|"[^"\\]*"|true|false|null)/.exec(
    trimmed,
  )?.[0];
  if (value !== undefined) {
    const next = trimmed.slice(value.length).trimStart().charAt(0);
    if (next !== '') return `invalid character '${next}' after top-level value`;
    if (value === 'null') return undefined;
    const type = /^[tf]/.test(value) ? 'bool' : value.startsWith('"') ? 'string' : 'number';
    return `json: cannot unmarshal ${type} into Go value of type map[string]interface {}`;
  }
  if (first === '-') return `invalid character '${second}' in numeric literal`;
  if (!'{["tfn'.includes(first))
    return `invalid character '${first}' looking for beginning of value`;
  try {
    JSON.parse(trimmed);
    return first === '{'
      ? undefined
      : 'json: cannot unmarshal array into Go value of type map[string]interface {}';
  } catch {
    return 'unexpected end of JSON input';
  }
}

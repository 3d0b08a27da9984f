/** Can an object be called so? What a kind allows beyond that is the server's to say; this much is safe in a path. */
export function isObjectName(text: string): boolean {
  return text !== '' && text !== '.' && text !== '..' && text.length <= 253 && !/[/%]/.test(text);
}

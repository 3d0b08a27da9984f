/** Is a text an address, of either family? */
export function isIpAddress(text: string): boolean {
  if (/^\d{1,3}(\.\d{1,3}){3}$/.test(text))
    return text.split('.').every((part) => Number(part) <= 255);
  return text.includes(':') && /^[\da-fA-F:.]+$/.test(text) && URL.canParse(`http://[${text}]/`);
}

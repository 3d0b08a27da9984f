/** Is this a label's value? */
export function isLabelValue(text: string): boolean {
  return text.length <= 63 && /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/.test(text);
}

/** Is this a label's key, with or without a prefix? */
export function isLabelKey(text: string): boolean {
  const slash = text.indexOf('/');
  const prefix = text.slice(0, Math.max(slash, 0));
  const name = text.slice(slash + 1);
  const isPrefix =
    slash < 0 || (prefix.length <= 253 && /^[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?$/.test(prefix));
  return isPrefix && name !== '' && isLabelValue(name);
}

/** Is it a label or an annotation that Homeostat alone writes (`homeostat.dev/child`, `inventory.homeostat.dev/thing`)? */
export function isOwnName(key: string): boolean {
  return /^(?:[a-z0-9.-]+\.)?homeostat\.dev\//.test(key);
}

/** `my-web_app` as the id of a child, different from those that are taken. */
export function childId(text: string, taken: ReadonlySet<string>): string {
  const words = text.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  const joined = words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('');
  const letters = joined.replace(/^[^A-Za-z]+/, '');
  // PodDisruptionBudget, HTTPRoute: leading capitals become small, but for that of the next word.
  const camel = letters.replace(/^[A-Z]+(?=[A-Z][a-z])|^[A-Z]+$|^[A-Z]/, (start) =>
    start.toLowerCase(),
  );
  const base = camel.slice(0, 36) || 'child';
  let id = base;
  for (let number = 2; taken.has(id); number++) id = `${base}${number}`;
  return id;
}

/** ` (file:line:column)` of a definition, whose manifests have these endings. */
const anyPlace = / \([^()\n]+\.(?:ya?ml|json):\d+:\d+\)/g;

/** A message with the place in the definition that users have to edit. @param place `file:line:column` */
export function withPlace(message: string, place: string | undefined): string {
  return place === undefined ? message : `${message} (${place})`;
}

/** A text without the places of a definition's file. @param file Undefined: its messages have no places */
export function withoutPlaces(text: string, file: string | undefined): string {
  if (file === undefined) return text;
  const start = ` (${file}:`;
  const [head = '', ...rest] = text.split(start);
  const parts = rest.map((part) => {
    const after = part.replace(/^\d+:\d+\)/, '');
    return after.length < part.length ? after : `${start}${part}`;
  });
  return [head, ...parts].join('');
}

/** A text that may have been written with places of any manifest, without them. */
export function withoutAnyPlaces(text: string): string {
  return text.replaceAll(anyPlace, '');
}

/**
 * Whether two texts differ in places at most. Lines move with every comment, and a renamed file moves all: that alone is not worth a write
 * of each failing resource.
 * @param file See {@link withoutPlaces}
 */
export function differsInPlacesOnly(
  desired: string,
  live: string,
  file: string | undefined,
): boolean {
  return desired === live || withoutPlaces(desired, file) === withoutAnyPlaces(live);
}

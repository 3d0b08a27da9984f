/** What no message may quote, as a name, as a key and as a value. */
const marker = 'hunter2zq7x';

/** `stringData` of a Secret: the marker in all shapes that something objects to. */
export const markedData = {
  word: marker,
  upper: marker.toUpperCase(),
  spoilt: `${marker} is/not valid!`,
} as const;

/** The marker, as it is or encoded, where it stands in a text; undefined: nowhere. */
export function markerIn(text: string): string | undefined {
  if (text.toLowerCase().includes(marker)) return around(text, text.toLowerCase().indexOf(marker));
  const encoded = [marker, marker.toUpperCase()].flatMap(base64Forms);
  const found = encoded.find((form) => text.includes(form));
  return found === undefined ? undefined : around(text, text.indexOf(found));
}

/** What base64 makes of a text, wherever in what is encoded it stands: the groups that hold nothing else. */
function base64Forms(text: string): readonly string[] {
  return [0, 1, 2].map((before) => {
    const groups = Math.floor((before + text.length) / 3);
    return btoa('-'.repeat(before) + text).slice(before === 0 ? 0 : 4, groups * 4);
  });
}

function around(text: string, at: number): string {
  return text.slice(Math.max(0, at - 200), at + 100);
}

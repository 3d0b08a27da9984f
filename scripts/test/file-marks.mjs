// Tests that a process with several files runs beside those of the files: their titles say where a file begins and ends.
const prefix = 'of the runner: ';
const begins = `${prefix}begin `;

/** Matches all of them, and no test of a file. */
export const markPattern = new RegExp(`^${prefix}`);
export const startTitle = `${prefix}start`;
export const endTitle = `${prefix}end`;

export function beginTitle(file) {
  return begins + file;
}

/** Undefined: it is no such title. */
export function fileBegunBy(title) {
  return title.startsWith(begins) ? title.slice(begins.length) : undefined;
}

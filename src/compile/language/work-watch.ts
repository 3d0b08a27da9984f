/** Told of every piece of work for one definition that nothing interrupts: should the process end in the middle, its next one can tell whose it was. */
export interface WorkWatch {
  begin(): void;
  end(): void;
}

/** Nobody looks. */
export const unwatched: WorkWatch = { begin: ignore, end: ignore };

function ignore(): void {
  // Nothing to note.
}

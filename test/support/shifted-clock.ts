/** For the environment of a process: its clock on the wall is ahead of ours by so many ms, from its start. Its monotonic clock is not. */
export function shiftedClock(aheadMs: number): Readonly<Record<string, string>> {
  const program = `
    const Real = Date;
    globalThis.Date = class extends Real {
      constructor(...parts) { parts.length === 0 ? super(Real.now() + ${aheadMs}) : super(...parts); }
      static now() { return Real.now() + ${aheadMs}; }
    };`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(program)}` };
}

/** Soaks that were run to their end, newest first; written by hand after a run. */
export const soakRuns: readonly {
  readonly seed: number;
  readonly minutes: number;
  readonly checkPoints: number;
  readonly result: string;
}[] = [
  { seed: 20261121, minutes: 20, checkPoints: 37, result: 'equal at every check point' },
  { seed: 7, minutes: 20, checkPoints: 30, result: 'equal at every check point' },
];

/** How informers list and watch. */
export interface InformerSettings {
  /** Objects per page of a list. @default 500 */
  readonly pageSize?: number;
  /** Without a byte for so long (not even a bookmark, which come once a minute) a watch is cut and resumed. @default 180_000 */
  readonly idleTimeoutMs?: number;
  /** The server is asked to end a watch after a random time from here to its double. @default 300 */
  readonly watchTimeoutSeconds?: number;
  /** A watch that ends sooner than that without an event counts as a failure. @default 1_000 */
  readonly shortWatchMs?: number;
  /** Delay after the first failure, before jitter of up to 100 %. @default 800 */
  readonly baseDelayMs?: number;
  /** Upper bound of that delay, before jitter. @default 30_000 */
  readonly maxDelayMs?: number;
  /** Upper bound of the whole delay, jitter included, while no server answers: a try costs next to nothing then. @default 5_000 */
  readonly unreachableMaxDelayMs?: number;
  /** Without the right to list or watch it is tried so often, besides when the right comes: not every role can be asked for. @default 600_000 */
  readonly deniedRetryMs?: number;
  /** So long without a failure, and the delays start from the first again. @default 120_000 */
  readonly forgetFailuresAfterMs?: number;
  /** An informer of a single object lives so long after its last use. @default 60_000 */
  readonly lingerMs?: number;
  /** While a request on a key is under way, events on the key wait for its answer, but no longer than that. @default 1_000 */
  readonly holdEventsMs?: number;
  /** Freezes the objects, so that a test sees who changes one. @default false */
  readonly freeze?: boolean;
}

/** Settings with every default filled in. */
export type ResolvedInformerSettings = Required<InformerSettings>;

export function resolveInformerSettings(settings: InformerSettings = {}): ResolvedInformerSettings {
  return {
    pageSize: 500,
    idleTimeoutMs: 180_000,
    watchTimeoutSeconds: 300,
    shortWatchMs: 1_000,
    baseDelayMs: 800,
    maxDelayMs: 30_000,
    unreachableMaxDelayMs: 5_000,
    deniedRetryMs: 600_000,
    forgetFailuresAfterMs: 120_000,
    lingerMs: 60_000,
    holdEventsMs: 1_000,
    freeze: false,
    ...settings,
  };
}

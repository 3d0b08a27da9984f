import { type ClustersSummary, type DefinitionView, isStarting } from './definition-view.ts';

/** A start within this time is not written to a status. */
const startGraceMs = 5_000;
/** As {@link startGraceMs}, where other clusters are connected first, and for counts: an unreachable one is reported after 15 s. */
const settlingGraceMs = 20_000;

/** A status after a start. */
export interface StatusAfterStart {
  /** Monotonic time of the start. */
  readonly createdMs: number;
  readonly nowMs: number;
  /** Whether the status is still that of an earlier process. */
  readonly isOfEarlier: boolean;
  /** Whether only counts would change in it. */
  readonly changesCountsOnly: boolean;
  /** Whether the start includes a connection to its cluster. @default false */
  readonly includesConnection?: boolean;
}

/**
 * How long to delay the status of a definition after a start, in ms: most definitions are soon as their status says, and need no write.
 * What differs may be that it is starting in some cluster, a failure that passes, or resources that are not counted yet. Pure.
 */
export function startDelayMs(view: DefinitionView, status: StatusAfterStart): number {
  return leftMs(graceMs(view, status), status);
}

/** As {@link startDelayMs}, for a failure of a connection that may pass. Pure. */
export function failureDelayMs(status: StatusAfterStart): number {
  return status.isOfEarlier ? leftMs(startGraceMs, status) : 0;
}

function leftMs(
  ms: number,
  { createdMs, nowMs }: Pick<StatusAfterStart, 'createdMs' | 'nowMs'>,
): number {
  return Math.max(0, createdMs + ms - nowMs);
}

function graceMs(
  view: DefinitionView,
  { isOfEarlier, changesCountsOnly, includesConnection = false }: StatusAfterStart,
): number {
  const { clusters, state, isCounting, isSettling } = view;
  const ownGraceMs = includesConnection || isSettling === true ? settlingGraceMs : startGraceMs;
  if (isStarting(view)) return ownGraceMs;
  if (!isOfEarlier) return 0;
  if (clusters !== undefined && !runsEverywhere(clusters)) return settlingGraceMs;
  // The message of one that is finalized has the number.
  if (isCounting === true && (changesCountsOnly || state.kind === 'finalizing'))
    return settlingGraceMs;
  return mayPass(view) ? ownGraceMs : 0;
}

function runsEverywhere({ selected, running, failing }: ClustersSummary): boolean {
  return running === selected && failing.length === 0;
}

function mayPass({ state, problems }: DefinitionView): boolean {
  return state.kind === 'failing' || state.kind === 'waiting' || problems.length > 0;
}

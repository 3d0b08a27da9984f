import { hostname } from 'node:os';
import type { KubeCluster } from '../kube/index.ts';
import {
  type CheckResult,
  createDefinitionObjects,
  createDefinitionRevisions,
  createManager,
  type DefinitionOrigin,
  type DefinitionSource,
  GoneDefinitions,
  leadingWhenSure,
  Registry,
  RemovalFinalizers,
  type RuntimeView,
  type SourceReading,
  type TextCheck,
  UnreadRemovals,
  withRevisions,
} from '../runtime/index.ts';
import type { Logger, ReadableMetricRegistry } from '../telemetry/index.ts';
import type { Clock } from '../util/clock.ts';
import { orAborted } from '../util/or-aborted.ts';
import type { Random } from '../util/random.ts';
import { createCapacity } from './capacity.ts';
import type { Contest } from './election.ts';
import type { FindingsTeller } from './findings-teller.ts';
import { startHealth } from './health.ts';
import type { RunOptions } from './run-options.ts';

/** All that a process is made of. */
export interface Serving {
  readonly options: RunOptions;
  /** What was there at the start, only to be told. */
  readonly checked: CheckResult;
  readonly sources: readonly DefinitionSource[];
  readonly check: TextCheck;
  readonly teller: FindingsTeller;
  readonly cluster: KubeCluster;
  readonly contest: Contest;
  /** Of our own objects. */
  readonly namespace: string;
  /** Whose ConfigMaps are read; undefined: none are. */
  readonly definitionsNamespace: string | undefined;
  /** Is the namespace this process's: its Pod's, that of `--namespace`, or where it contends for the lead? */
  readonly ownsNamespace: boolean;
  readonly readsDirectories: boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: ReadableMetricRegistry;
}

/** Serves definitions until the signal aborts, and every pass has ended. */
export async function serve(serving: Serving, signal: AbortSignal): Promise<void> {
  const { options, checked, sources, contest, teller, check, ...place } = serving;
  const { cluster, clock, random, logger, metrics } = place;
  const { namespace, definitionsNamespace, ownsNamespace, readsDirectories } = place;
  // Who may write there would write definitions, and those work with our rights.
  const guardedNamespaces = new Set([namespace, definitionsNamespace ?? namespace]);
  // Before anything is listed: who leads from the start lists nothing twice.
  const leadership = leadingWhenSure(await contest.enter(cluster), () => registry);
  const world = { cluster, leadership, clock, random, logger, metrics };
  const covers = (origin: DefinitionOrigin) => sources.some((source) => source.covers(origin));
  const revisions = createDefinitionRevisions({
    ...world,
    namespace,
    owner: { covers, readsDirectories, ownsNamespace },
    areSourcesRead: () => registry.isRead,
  });
  const formersKnown = Promise.withResolvers<void>();
  const gone = new GoneDefinitions({
    recorded: () => revisions.known(),
    isAllKnown: () => registry.isRead,
  });
  const manager = createManager({
    ...world,
    whenFormersKnown: async (signal, onFailure) => {
      const unsubscribe = revisions.onSilence(onFailure);
      await orAborted(formersKnown.promise, signal).finally(unsubscribe);
    },
    onAccepted: (located) => revisions.accepted(located),
    onFinished: (name) => {
      gone.finished(name);
      registry.refresh();
    },
    guardedNamespaces,
    ...createCapacity(),
  });
  const objects = createDefinitionObjects({
    ...world,
    views: () => manager.view().definitions,
    covers: (origin) => registry.covers(origin),
    runtime: ownsNamespace ? `${namespace}/${options.leaseName}` : hostname(),
    ...(definitionsNamespace === undefined ? {} : { definitionsNamespace }),
  });
  const readsObjects = covers({ source: 'object', ref: '' });
  const finalizers = readsObjects ? new RemovalFinalizers(world) : undefined;
  const unread = readsObjects ? undefined : new UnreadRemovals({ objects, logger });
  const registry = new Registry({
    sources,
    clock,
    logger,
    check,
    leadership,
    known: () => withRevisions(objects.known(), revisions.known()),
    whenKnown: (signal) => Promise.all([objects.whenKnown(signal), revisions.whenKnown(signal)]),
    onFindings: (findings) => teller.tell(findings),
    onDoubt: (isInDoubt) => {
      manager.hold(isInDoubt);
      objects.hold(isInDoubt);
    },
    onWanted: (found) => {
      const wanted = gone.with(found);
      manager.replace(wanted);
      // Only now: what has been wanted so far knew of no older revisions.
      if (revisions.isAnswered) formersKnown.resolve();
      objects.show(wanted);
      revisions.show(wanted);
      finalizers?.show(wanted);
    },
  });
  const stops = [
    objects.onKnown(() => registry.refresh()),
    objects.onDoubt((isInDoubt) => registry.doubt(objects, isInDoubt)),
    revisions.onKnown(() => registry.refresh()),
    revisions.onDoubt((isInDoubt) => registry.doubt(revisions, isInDoubt)),
    manager.onChange(() => objects.viewsChanged()),
  ];
  const keepers = [contest, objects, revisions, ...(unread ? [unread] : [])];
  const view = () => wholeView(manager.view(), registry.sources, keepers);
  const observe = () => {
    manager.observe();
    cluster.observe();
  };
  const failure = () => contest.failure();
  let health: Awaited<ReturnType<typeof startHealth>>;
  try {
    health = await startHealth(options.http, { clock, metrics, view, failure, observe });
    const counts = { definitions: checked.accepted.length, refused: definitionsIn(checked) };
    const names = sources.map(({ name }) => name);
    logger.info({ ...counts, sources: names, http: health?.url }, 'Starting');
    const parts = [registry, manager, objects, revisions, finalizers, unread];
    await Promise.all(parts.map((part) => part?.run(signal)));
  } finally {
    // Also of a start that fails: others need not wait until the lead has run out.
    await contest.leave();
    for (const stop of stops) stop();
    await health?.close();
  }
}

function definitionsIn({ refused }: CheckResult): number {
  return refused.reduce((sum, { definitions }) => sum + definitions, 0);
}

/** What cannot be read or kept belongs to the picture: a definition that is not known cannot tell. */
function wholeView(
  view: RuntimeView,
  sources: readonly SourceReading[],
  keepers: readonly { readonly warning: string | undefined }[],
): RuntimeView {
  const unread = sources
    .filter(({ isRead }) => !isRead)
    .map(({ name, trouble }) => (trouble === undefined ? name : `${name} (${trouble})`));
  const troubles = sources.flatMap(({ name, isRead, trouble }) =>
    isRead && trouble !== undefined ? `${name}: ${trouble}` : [],
  );
  const warnings = keepers.flatMap(({ warning }) => warning ?? []);
  return { ...view, unread, warnings: [...view.warnings, ...troubles, ...warnings] };
}

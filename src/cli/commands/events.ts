import { KubeError } from '#kube';
import type { KubeObject } from '#util/kube-object.ts';
import type { TreeNode } from '#util/object-tree/object-tree.ts';
import { CliError, exitCode } from '../exit-code.ts';
import { type ClusterSession, type SessionContext, withCluster } from './cluster-session.ts';
import { ageText, tableLines } from './print-table.ts';
import { listObjects, readObject, type Selection } from './requests.ts';
import { readTree } from './tree.ts';

export interface EventsOptions {
  readonly allNamespaces?: boolean;
  /** `podset/example`: only Events of this object. */
  readonly for?: string;
  /** With `for`: also Events of the objects below it. @default false */
  readonly children?: boolean;
}

interface Event extends KubeObject {
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly count?: number;
  readonly firstTimestamp?: string | null;
  readonly lastTimestamp?: string | null;
  readonly eventTime?: string | null;
  readonly series?: { readonly count?: number; readonly lastObservedTime?: string };
  readonly involvedObject?: {
    readonly kind?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
}

/** `homeostat events`: lists Events, oldest first. @throws CliError */
export function events(context: SessionContext, options: EventsOptions): Promise<number> {
  return withCluster(context, async (session) => {
    const { allNamespaces = false, for: about, children = false } = options;
    if (children && about === undefined)
      throw new CliError('"--children" needs "--for": the object whose children are meant');
    const found =
      about === undefined
        ? await listEvents(session, { allNamespaces })
        : await eventsOf(session, about, children);
    for (const line of eventLines(found, allNamespaces)) session.output.print(line);
    if (found.length === 0) session.output.error('No events found');
    return exitCode.ok;
  });
}

/** The Events of one object, as a table; empty when there are none. */
export async function eventLinesOf(
  session: ClusterSession,
  { kind, name }: { readonly kind: string; readonly name: string },
): Promise<readonly string[]> {
  return eventLines(await listEvents(session, { fieldSelector: selectorFor(kind, name) }), false);
}

function selectorFor(kind: string, name: string): string {
  return `involvedObject.kind=${kind},involvedObject.name=${name}`;
}

/** The Events of an object; with its children those of all objects below it, too, which may be in other namespaces. */
async function eventsOf(
  session: ClusterSession,
  about: string,
  withChildren: boolean,
): Promise<readonly Event[]> {
  const [type = '', name = '', ...rest] = about.split('/');
  const [kind] = session.kinds.resolve(type);
  if (kind === undefined || name === '' || rest.length > 0)
    throw new CliError(`Expected "TYPE/NAME" for --for, found "${about}"`);
  const own = () => listEvents(session, { fieldSelector: selectorFor(kind.gvk.kind, name) });
  if (!withChildren) return own();
  const root = await readObject(session, kind, name).catch((error: unknown) => {
    if (error instanceof KubeError && error.code === 'not-found') return undefined;
    throw error;
  });
  // Events outlive their objects.
  if (root === undefined) return own();
  const nodes = await readTree(session, [root]);
  const keys = new Set(objectsOf(nodes).map(({ kind, metadata }) => keyOf({ kind, ...metadata })));
  const all = await listEvents(session, { allNamespaces: true });
  return all.filter(({ involvedObject = {} }) => keys.has(keyOf(involvedObject)));
}

function objectsOf(nodes: readonly TreeNode[]): readonly KubeObject[] {
  return nodes.flatMap(({ object, children }) => [object, ...objectsOf(children)]);
}

function keyOf({ kind, namespace = '', name }: NonNullable<Event['involvedObject']>): string {
  return [kind, namespace, name].join('/');
}

async function listEvents(
  session: ClusterSession,
  selection: Selection,
): Promise<readonly Event[]> {
  const kind = session.kinds.of('v1', 'Event');
  return kind === undefined ? [] : listObjects(session, kind, selection);
}

/** A table; empty when there are none. */
function eventLines(found: readonly Event[], allNamespaces: boolean): readonly string[] {
  if (found.length === 0) return [];
  const nowMs = Date.now();
  const rows = found
    .toSorted((a, b) => Date.parse(lastSeen(a)) - Date.parse(lastSeen(b)))
    .map((event) => [
      ...(allNamespaces ? [event.metadata.namespace ?? ''] : []),
      `${ageText(lastSeen(event), nowMs)}${timesText(event)}`,
      event.type ?? '',
      event.reason ?? '',
      `${event.involvedObject?.kind ?? ''}/${event.involvedObject?.name ?? ''}`,
      event.message ?? '',
    ]);
  const header = ['LAST SEEN', 'TYPE', 'REASON', 'OBJECT', 'MESSAGE'];
  return tableLines(allNamespaces ? ['NAMESPACE', ...header] : header, rows);
}

function lastSeen({ series, lastTimestamp, eventTime, firstTimestamp, metadata }: Event): string {
  const times = [series?.lastObservedTime, lastTimestamp, eventTime, firstTimestamp];
  return times.find((time) => typeof time === 'string') ?? metadata.creationTimestamp ?? '';
}

function timesText({ series, count }: Event): string {
  const times = series?.count ?? count ?? 1;
  return times > 1 ? ` (x${times})` : '';
}

import type { KubeObject } from '../../util/kube-object.ts';
import { CliError, exitCode } from '../exit-code.ts';
import { type ClusterSession, type SessionContext, withCluster } from './cluster-session.ts';
import { ageText, tableLines } from './print-table.ts';
import { listObjects } from './requests.ts';

export interface EventsOptions {
  readonly allNamespaces?: boolean;
  /** `podset/example`. */
  readonly for?: string;
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
  readonly involvedObject?: { readonly kind?: string; readonly name?: string };
}

/** `homeostat events`: lists Events, oldest first. @throws CliError */
export function events(context: SessionContext, options: EventsOptions): Promise<number> {
  return withCluster(context, async (session) => {
    const lines = await eventLines(session, options);
    for (const line of lines) session.output.print(line);
    if (lines.length === 0) session.output.error('No events found');
    return exitCode.ok;
  });
}

/** A table of Events; empty when there are none. */
export async function eventLines(
  session: ClusterSession,
  { allNamespaces = false, for: about }: EventsOptions,
): Promise<readonly string[]> {
  const kind = session.kinds.of('v1', 'Event');
  if (kind === undefined) return [];
  const fieldSelector = about === undefined ? {} : { fieldSelector: selectorFor(session, about) };
  const found = await listObjects(session, kind, { allNamespaces, ...fieldSelector });
  if (found.length === 0) return [];
  const nowMs = Date.now();
  const rows = (found as readonly Event[])
    .toSorted((a, b) => Date.parse(lastSeen(a)) - Date.parse(lastSeen(b)))
    .map((event) => [
      ...(allNamespaces ? [event.metadata.namespace ?? ''] : []),
      `${ageText(lastSeen(event), nowMs)}${timesText(event)}`,
      event.type ?? '',
      event.reason ?? '',
      `${event.involvedObject?.kind ?? ''}/${event.involvedObject?.name ?? ''}`,
      // A row is one line.
      (event.message ?? '').trim().replaceAll(/\s*\n\s*/g, ' '),
    ]);
  const header = ['LAST SEEN', 'TYPE', 'REASON', 'OBJECT', 'MESSAGE'];
  return tableLines(allNamespaces ? ['NAMESPACE', ...header] : header, rows);
}

function selectorFor({ kinds }: ClusterSession, about: string): string {
  const [type = '', name = '', ...rest] = about.split('/');
  const [kind] = kinds.resolve(type);
  if (kind === undefined || name === '' || rest.length > 0)
    throw new CliError(`Expected "TYPE/NAME" for --for, found "${about}"`);
  return `involvedObject.kind=${kind.gvk.kind},involvedObject.name=${name}`;
}

function lastSeen({ series, lastTimestamp, eventTime, firstTimestamp, metadata }: Event): string {
  const times = [series?.lastObservedTime, lastTimestamp, eventTime, firstTimestamp];
  return times.find((time) => typeof time === 'string') ?? metadata.creationTimestamp ?? '';
}

function timesText({ series, count }: Event): string {
  const times = series?.count ?? count ?? 1;
  return times > 1 ? ` (x${times})` : '';
}

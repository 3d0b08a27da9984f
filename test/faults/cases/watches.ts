import assert from 'node:assert/strict';
import type { AuditEntry } from '../../support/control-plane/index.ts';
import { matching } from '../../support/fault-proxy/index.ts';
import {
  type CaseRun,
  type FaultCase,
  lists,
  onceOnEachKind,
  onEachKind,
  onEvent,
  onRequest,
  watches,
} from '../fault-case.ts';
import { settingsOf } from '../subject.ts';

const expiry = onceOnEachKind('ERROR 410', { kind: 'error', status: 410 });

/** What happens to watches and to the lists that follow them. */
export const watchCases: readonly FaultCase[] = [
  {
    name: 'watches cut between two events',
    injected: 'the proxy breaks each kind’s watch in place of its second event',
    faults: onceOnEachKind('cut', { kind: 'cut', midLine: false }),
  },
  {
    name: 'watches cut in mid-line',
    injected: 'the proxy sends half of each kind’s second event and breaks the connection',
    faults: onceOnEachKind('cut in mid-line', { kind: 'cut', midLine: true }),
  },
  {
    name: 'silent watches, half-open connections',
    injected:
      'from its next event on the proxy passes nothing on any watch; cut when the script is over',
    faults: onEachKind('silence', { kind: 'silence' }),
    endsWithScript: true,
  },
  {
    name: 'silent watches that nobody cuts',
    injected:
      'during the edits one watch of each kind, those of definitions, of their revisions and of CRDs too, falls silent for ever: only the idle watchdog of three minutes can help',
    runs: 'edits',
    oracle: 'each is noticed and opened anew',
    limitMs: 280_000,
    during: outlastSilence,
  },
  {
    name: 'watches that carry bookmarks only',
    injected:
      'the server is asked to end every watch after four seconds; it sends a bookmark first',
    oracle: 'each watch goes on from its bookmark, nothing is listed',
    during: resumeFromBookmarks,
  },
  {
    name: '410 when a cut watch is opened again',
    injected: 'each kind’s watch is cut, the next three watches are answered with 410',
    faults: [
      ...onceOnEachKind('cut', { kind: 'cut', midLine: false }),
      onRequest('410', { kind: 'answer', status: 410 }, { when: watches, times: 3 }),
    ],
  },
  {
    name: '410 as an event of a watch',
    injected: 'an ERROR event of code 410 in place of each kind’s second event',
    faults: expiry,
  },
  {
    name: '500 as an event of a watch',
    injected: 'an ERROR event of code 500 in place of each kind’s second event',
    faults: onceOnEachKind('ERROR 500', { kind: 'error', status: 500 }),
  },
  {
    name: '410 on a list',
    injected: 'each kind’s watch expires, and the first list that follows is answered with 410',
    faults: [
      ...expiry,
      onRequest('410', { kind: 'answer', status: 410 }, { when: lists, times: 1 }),
    ],
  },
  {
    name: '410 on the second page of a list',
    injected:
      'each kind’s watch expires, lists come in pages of two, and two second pages are answered with 410',
    faults: [
      ...expiry,
      onRequest(
        '410',
        { kind: 'answer', status: 410 },
        { when: matching({ verb: 'list', isLaterPage: true }), times: 2 },
      ),
      onRequest(
        'small pages',
        { kind: 'paginate', pageSize: 2 },
        { when: ({ verb, path }) => verb === 'list' && path.includes('limit=') },
      ),
    ],
  },
  {
    name: 'watches that lag behind the answers',
    injected: 'every event comes 30 ms late, and all behind it',
    faults: [onEvent('lag', { kind: 'lag', ms: 30 })],
  },
  {
    name: 'duplicated events',
    injected: 'every event comes twice, and once more after the one that follows it',
    faults: [onEvent('duplicate', { kind: 'duplicate' })],
  },
];

/** Objects that the runtime keeps of the lane's definition, each of a kind that it watches for its own sake. */
async function ownObjects({ client, definition }: CaseRun): Promise<readonly string[]> {
  const revisions = '/apis/apps/v1/namespaces/homeostat-system/controllerrevisions';
  const ours = (await client.list(revisions)).filter(
    ({ metadata }) => metadata.labels?.['homeostat.dev/definition'] === definition,
  );
  return [
    `/apis/homeostat.dev/v1alpha1/operatordefinitions/${definition}`,
    `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.${definition}.example.com`,
    ...ours.slice(0, 1).map(({ metadata }) => `${revisions}/${metadata.name}`),
  ];
}

/** What falls silent must be noticed by itself: no edit of a resource tells whether definitions are still followed. */
async function outlastSilence(run: CaseRun): Promise<void> {
  const { act, client, lane, phase, untilEqual } = run;
  if (phase === 0) return act();
  const limits = { times: 1 };
  const ofDefinitions = ['operatordefinitions', 'customresourcedefinitions', 'controllerrevisions'];
  const silences = [
    ...onEachKind('silence', { kind: 'silence' }, limits),
    ...onEachKind('silence', { kind: 'silence' }, limits, ofDefinitions),
  ].map((fault) => lane.proxy.inject(fault));
  await act();
  const touched = { metadata: { annotations: { 'example.com/touched': 'true' } } };
  for (const path of await ownObjects(run)) await client.patch(path, touched);
  await Promise.all(silences.map((fault) => fault.untilCount(1)));
  await untilEqual();
  await lane.homeostat.whenLoggedTimes('Watch was idle, cut it', silences.length);
}

/** At rest only bookmarks come: the version that a watch is opened with must move with what others write. */
async function resumeFromBookmarks(run: CaseRun): Promise<void> {
  const { act, audit, client, lane, untilEqual } = run;
  const versions: string[] = [];
  const shorten = lane.proxy.inject(
    onRequest(
      'shorten',
      { kind: 'shorten', seconds: 4 },
      {
        when({ verb, resource, path }) {
          if (verb === 'watch' && resource === 'things') versions.push(versionIn(path));
          return verb === 'watch';
        },
      },
    ),
  );
  // All connections at once: everything is listed anew.
  lane.proxy.cutAll();
  await act();
  await untilEqual();
  await lane.untilWatching();
  const since = audit.mark();
  const before = versions.at(-1);
  await client.apply(settingsOf({ ...run, namespace: await run.otherNamespace() }, 'unread'));
  while (versions.at(-1) === before) await shorten.untilCount(shorten.count + 1);
  shorten.remove();
  assert.deepEqual(listsOf(audit.entries({ user: lane.user, since })), []);
}

function versionIn(path: string): string {
  return new URL(path, 'https://server').searchParams.get('resourceVersion') ?? '';
}

/** Lists of what the definition watches, without those of one object by which an informer learns whether the server has gone back. */
function listsOf(entries: readonly AuditEntry[]): readonly string[] {
  const uris = entries.filter(({ verb }) => verb === 'list').map(({ uri }) => uri);
  return uris.filter((uri) => !/[?&]limit=1(?:&|$)|customresourcedefinitions/.test(uri));
}

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
    injected: 'the proxy closes each kind’s watch instead of sending its second event',
    faults: onceOnEachKind('cut', { kind: 'cut', midLine: false }),
  },
  {
    name: 'watches cut in mid-line',
    injected: 'the proxy sends half of each kind’s second event and closes the connection',
    faults: onceOnEachKind('cut in mid-line', { kind: 'cut', midLine: true }),
  },
  {
    name: 'silent watches, half-open connections',
    injected:
      'from the next event on, the proxy forwards nothing on any watch; the watches are cut when the script ends',
    faults: onEachKind('silence', { kind: 'silence' }),
    endsWithScript: true,
  },
  {
    name: 'silent watches that are never cut',
    injected:
      'during the edits one watch of each kind, those on definitions and CRDs included, delivers nothing any more: only the idle limit of three minutes detects it',
    runs: 'edits',
    oracle: 'each is detected and reopened',
    limitMs: 280_000,
    during: outlastSilence,
  },
  {
    name: 'watches that the server ends early',
    injected:
      'the server is asked to end every watch after four seconds; it sends a bookmark first',
    oracle:
      'each watch continues from a newer version, although nothing that it selects has changed',
    during: continueAfterEarlyEnds,
  },
  {
    name: '410 when a cut watch is reopened',
    injected: 'each kind’s watch is cut, and the next three watches get a 410',
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
    injected: 'each kind’s watch expires, and the next list gets a 410',
    faults: [
      ...expiry,
      onRequest('410', { kind: 'answer', status: 410 }, { when: lists, times: 1 }),
    ],
  },
  {
    name: '410 on the second page of a list',
    injected:
      'each kind’s watch expires, lists have pages of two items, and two second pages get a 410',
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
    name: 'watches that lag behind the responses',
    injected: 'every event and all later ones are delayed by 30 ms',
    faults: [onEvent('lag', { kind: 'lag', ms: 30 })],
  },
  {
    name: 'duplicated events',
    injected: 'every event is delivered twice, and once more after the next event',
    faults: [onEvent('duplicate', { kind: 'duplicate' })],
  },
];

/** Objects that the runtime keeps of the lane's definition, each of a kind that it watches for its own sake. */
function ownObjects({ definition }: CaseRun): readonly string[] {
  return [
    `/apis/homeostat.dev/v1alpha1/operatordefinitions/${definition}`,
    `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.${definition}.example.com`,
  ];
}

/** What falls silent must be noticed by itself: no edit of a resource tells whether definitions are still followed. */
async function outlastSilence(run: CaseRun): Promise<void> {
  const { act, client, lane, phase, untilEqual } = run;
  if (phase === 0) return act();
  const limits = { times: 1 };
  const ofDefinitions = ['operatordefinitions', 'customresourcedefinitions'];
  const silences = [
    ...onEachKind('silence', { kind: 'silence' }, limits),
    ...onEachKind('silence', { kind: 'silence' }, limits, ofDefinitions),
  ].map((fault) => lane.proxy.inject(fault));
  await act();
  const touched = { metadata: { annotations: { 'example.com/touched': 'true' } } };
  for (const path of ownObjects(run)) await client.patch(path, touched);
  await Promise.all(silences.map((fault) => fault.untilCount(1)));
  await untilEqual();
  await lane.homeostat.whenLoggedTimes('Watch was idle, reconnecting', silences.length);
}

/** The version that a watch is opened with must move with what others write, although it delivers bookmarks only. */
async function continueAfterEarlyEnds(run: CaseRun): Promise<void> {
  const { act, client, lane, untilEqual } = run;
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
  const before = versions.at(-1);
  await client.apply(settingsOf({ ...run, namespace: await run.otherNamespace() }, 'unread'));
  while (versions.at(-1) === before) await shorten.untilCount(shorten.count + 1);
  shorten.remove();
}

function versionIn(path: string): string {
  return new URL(path, 'https://server').searchParams.get('resourceVersion') ?? '';
}

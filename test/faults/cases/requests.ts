import { childApplies, type FaultCase, onRequest, statusWrites, writes } from '../fault-case.ts';

/** What happens to requests and their answers. */
export const requestCases: readonly FaultCase[] = [
  {
    name: '409 on applies',
    injected: 'eight applies of children get a 409',
    faults: [onRequest('409', { kind: 'answer', status: 409 }, { when: childApplies, times: 8 })],
  },
  {
    name: '409 on status writes',
    injected: 'five status writes get a 409',
    faults: [onRequest('409', { kind: 'answer', status: 409 }, { when: statusWrites, times: 5 })],
  },
  {
    name: '429 with Retry-After',
    injected: 'eight writes get a 429 with Retry-After of one second',
    faults: [
      onRequest(
        '429',
        { kind: 'answer', status: 429, retryAfterSeconds: 1 },
        { when: writes, times: 8 },
      ),
    ],
  },
  {
    name: 'a burst of 500',
    injected: 'the next eight requests of any kind get a 500',
    faults: [onRequest('500', { kind: 'answer', status: 500 }, { times: 8 })],
  },
  {
    name: 'a burst of 503',
    injected: 'the next eight requests get a 503 without Retry-After',
    faults: [onRequest('503', { kind: 'answer', status: 503 }, { times: 8 })],
  },
  {
    name: 'a burst of 401',
    injected: 'two writes in a row get a 401: the credentials are read again',
    faults: [onRequest('401', { kind: 'answer', status: 401 }, { when: writes, times: 2 })],
  },
  {
    name: 'slow responses',
    injected: 'every request is forwarded 150 ms late, and its response is 150 ms late',
    faults: [onRequest('slow', { kind: 'delay', requestMs: 150, answerMs: 150 })],
  },
  {
    name: 'responses that take five seconds',
    injected: 'the responses to three writes are five seconds late',
    faults: [
      onRequest('very slow', { kind: 'delay', answerMs: 5_000 }, { when: writes, times: 3 }),
    ],
  },
  {
    name: 'responses held until the script ends',
    injected: 'the responses to the first six writes are held until all users have finished',
    async during({ act, lane }) {
      const hold = lane.proxy.inject(
        onRequest('hold', { kind: 'hold', what: 'answer' }, { when: writes, times: 6 }),
      );
      await act();
      await hold.untilCount(6);
      hold.remove();
    },
  },
  {
    name: 'requests held until the script ends',
    injected: 'the first six writes reach the server after all users have finished',
    async during({ act, lane }) {
      const hold = lane.proxy.inject(
        onRequest('hold', { kind: 'hold', what: 'request' }, { when: writes, times: 6 }),
      );
      await act();
      await hold.untilCount(6);
      hold.remove();
    },
  },
  {
    name: 'responses in another order',
    injected: 'the responses to 24 writes arrive in groups of four, in reverse order',
    faults: [onRequest('reordered', { kind: 'reorder', count: 4 }, { when: writes, times: 24 })],
  },
  {
    name: 'responses later than the events of their writes',
    injected: 'the response to every write is 200 ms late',
    faults: [onRequest('late answer', { kind: 'delay', answerMs: 200 }, { when: writes })],
  },
  {
    name: 'connections reset before the request',
    injected: 'eight writes are reset before they reach the server',
    faults: [onRequest('reset', { kind: 'reset', when: 'before' }, { when: writes, times: 8 })],
  },
  {
    name: 'lost responses',
    injected: 'eight writes are executed and their responses dropped',
    faults: [onRequest('lost', { kind: 'reset', when: 'after' }, { when: writes, times: 8 })],
  },
  {
    name: 'truncated responses',
    injected: 'eight writes are executed, and half of each response is sent',
    faults: [onRequest('truncated', { kind: 'truncate' }, { when: writes, times: 8 })],
  },
  {
    name: 'an unreachable API server',
    injected: 'the proxy resets all connections and rejects new ones until the script ends',
    async during({ act, lane }) {
      await lane.proxy.reject();
      await act();
      await lane.proxy.accept();
    },
  },
  {
    name: 'objects deleted and recreated before a relist',
    injected:
      'connections are rejected while users delete, replace and edit; then the first four watches get a 410',
    faults: [
      onRequest(
        '410',
        { kind: 'answer', status: 410 },
        { when: ({ verb }) => verb === 'watch', times: 4 },
      ),
    ],
    async during({ act, lane }) {
      await lane.proxy.reject();
      await act();
      await lane.proxy.accept();
    },
  },
];

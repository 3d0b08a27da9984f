import type { Clock } from '#util/clock.ts';
import { invariant } from '#util/homeostat-error.ts';
import { abortedError } from '../errors.ts';
import type { Flow } from '../roles.ts';

const priorities = ['object', 'status', 'event'] as const;
type Order = readonly Flow['priority'][];
/** Every sixteenth turn of a flow serves lower priorities first, so that its status is not starved. */
const lowPriorityInterval = 16;
/** Status and Events take turns, so that neither starves the other. */
const lowPriorityOrders: readonly [Order, Order] = [
  ['status', 'event', 'object'],
  ['event', 'status', 'object'],
];

/** Limit of body characters in flight per flow: large bodies of one definition must not slow down others. */
const maxFlowBytes = 1024 * 1024;

/** A queued request. */
interface QueuedRequest extends Flow {
  /** Approximate size of the body. @default 0 */
  readonly bytes?: number;
}

/** Releases a slot. Repeated calls have no effect. */
export type Release = () => void;

interface FairQueueOptions {
  /** Maximum requests in flight. */
  readonly slots: number;
  readonly clock: Clock;
  /** Called with the number of waiting requests on every change. */
  readonly onDepth?: (priority: Flow['priority'], depth: number) => void;
  /** Called with the waiting time of each granted request. */
  readonly onGranted?: (priority: Flow['priority'], waitedMs: number) => void;
}

interface Waiter {
  readonly bytes: number;
  readonly sinceMs: number;
  readonly go: (release: Release) => void;
}

interface FlowState {
  readonly name: string;
  readonly queues: Readonly<Record<Flow['priority'], LinkedQueue<Waiter>>>;
  inFlight: number;
  bytesInFlight: number;
  /** Number of served turns. */
  turns: number;
}

/**
 * Fair queue of requests with at most `slots` in flight. Waiting flows take turns (round-robin). Within a flow,
 * `object` precedes `status` and `status` precedes `event`, except in one turn in sixteen. A flow with three quarters
 * of the slots gets no more while another waits. A flow has at most {@link maxFlowBytes} of bodies in flight, or one
 * larger body. Idle flows are removed.
 */
export class FairQueue {
  readonly #slots: number;
  /** Maximum slots of one flow while another waits. */
  readonly #share: number;
  readonly #clock: Clock;
  readonly #onDepth: (priority: Flow['priority'], depth: number) => void;
  readonly #onGranted: (priority: Flow['priority'], waitedMs: number) => void;
  readonly #flows = new Map<string, FlowState>();
  /** Flows with waiting requests, in order of their turns. */
  readonly #turns = new Set<FlowState>();
  readonly #depths: Record<Flow['priority'], number> = { object: 0, status: 0, event: 0 };
  #inFlight = 0;

  constructor({ slots, clock, onDepth = ignore, onGranted = ignore }: FairQueueOptions) {
    invariant(slots >= 1, 'A fair queue has at least one slot');
    this.#slots = slots;
    this.#share = Math.max(1, Math.floor((slots * 3) / 4));
    this.#clock = clock;
    this.#onDepth = onDepth;
    this.#onGranted = onGranted;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Number of waiting requests. */
  get depth(): number {
    return priorities.reduce((sum, priority) => sum + this.#depths[priority], 0);
  }

  /** Number of flows with waiting or sent requests. */
  get flowCount(): number {
    return this.#flows.size;
  }

  /**
   * Waits for a slot. The caller releases it by calling the result.
   * @throws KubeError `aborted` when the signal fires first.
   */
  async acquire(request: QueuedRequest, signal: AbortSignal): Promise<Release> {
    if (signal.aborted) throw abortedError(signal.reason);
    const { name, priority, bytes = 0 } = request;
    const state = this.#stateOf(name);
    if (this.#inFlight < this.#slots && this.depth === 0 && hasRoom(state, bytes)) {
      this.#onGranted(priority, 0);
      return this.#grant(state, bytes);
    }
    return this.#wait(state, request, signal);
  }

  #wait(
    state: FlowState,
    { priority, bytes = 0 }: QueuedRequest,
    signal: AbortSignal,
  ): Promise<Release> {
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        this.#leave(state, priority, place);
        reject(abortedError(signal.reason));
      };
      const go = (release: Release) => {
        signal.removeEventListener('abort', onAbort);
        resolve(release);
      };
      const place = state.queues[priority].join({ bytes, sinceMs: this.#clock.monotonicMs(), go });
      signal.addEventListener('abort', onAbort, { once: true });
      this.#turns.add(state);
      this.#countDepth(priority, 1);
      // A slot may be free because of a flow's limit.
      this.#dispatch();
    });
  }

  #leave(state: FlowState, priority: Flow['priority'], place: QueueEntry<Waiter>): void {
    state.queues[priority].leave(place);
    this.#countDepth(priority, -1);
    this.#settle(state);
    // A flow's limit ends when no other flow waits.
    this.#dispatch();
  }

  #dispatch(): void {
    while (this.#inFlight < this.#slots) {
      const state = this.#nextFlow();
      if (state === undefined) return;
      const [priority, waiter] = takeFrom(state);
      this.#countDepth(priority, -1);
      // Move the flow to the end of the turns, or remove it.
      this.#turns.delete(state);
      const release = this.#grant(state, waiter.bytes);
      if (isWaiting(state)) this.#turns.add(state);
      this.#onGranted(priority, this.#clock.monotonicMs() - waiter.sinceMs);
      waiter.go(release);
    }
  }

  /** The next flow below its limits. A flow that waits alone may use all slots. */
  #nextFlow(): FlowState | undefined {
    for (const state of this.#turns) {
      const maySend = this.#turns.size === 1 || state.inFlight < this.#share;
      if (maySend && hasRoom(state, nextOf(state).waiter.bytes)) return state;
    }
    return undefined;
  }

  #grant(state: FlowState, bytes: number): Release {
    this.#inFlight += 1;
    state.inFlight += 1;
    state.bytesInFlight += bytes;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#inFlight -= 1;
      state.inFlight -= 1;
      state.bytesInFlight -= bytes;
      this.#settle(state);
      this.#dispatch();
    };
  }

  #stateOf(name: string): FlowState {
    const known = this.#flows.get(name);
    if (known !== undefined) return known;
    const queues = {
      object: new LinkedQueue<Waiter>(),
      status: new LinkedQueue<Waiter>(),
      event: new LinkedQueue<Waiter>(),
    };
    const state: FlowState = { name, inFlight: 0, bytesInFlight: 0, turns: 0, queues };
    this.#flows.set(name, state);
    return state;
  }

  #settle(state: FlowState): void {
    if (isWaiting(state)) return;
    this.#turns.delete(state);
    if (state.inFlight === 0) this.#flows.delete(state.name);
  }

  #countDepth(priority: Flow['priority'], by: number): void {
    this.#depths[priority] += by;
    this.#onDepth(priority, this.#depths[priority]);
  }
}

function isWaiting({ queues }: FlowState): boolean {
  return queues.object.size + queues.status.size + queues.event.size > 0;
}

/** A single body may exceed the limit. */
function hasRoom({ bytesInFlight }: FlowState, bytes: number): boolean {
  return bytesInFlight === 0 || bytesInFlight + bytes <= maxFlowBytes;
}

/** The next request of the flow. */
function nextOf(state: FlowState): {
  readonly priority: Flow['priority'];
  readonly waiter: Waiter;
} {
  for (const priority of orderOf(state)) {
    const waiter = state.queues[priority].first;
    if (waiter !== undefined) return { priority, waiter };
  }
  throw new Error('A flow without waiters has no turn');
}

function takeFrom(state: FlowState): readonly [Flow['priority'], Waiter] {
  const { priority, waiter } = nextOf(state);
  state.queues[priority].take();
  state.turns += 1;
  return [priority, waiter];
}

/** Priority order of the next turn of a flow. */
function orderOf({ turns }: FlowState): Order {
  const turn = turns + 1;
  if (turn % lowPriorityInterval !== 0) return priorities;
  return lowPriorityOrders[(turn / lowPriorityInterval) % 2 === 1 ? 0 : 1];
}

function ignore(): void {
  // No metrics.
}

/** An entry of a {@link LinkedQueue}. */
interface QueueEntry<T> {
  readonly value: T;
  next: QueueEntry<T> | undefined;
  previous: QueueEntry<T> | undefined;
  isWaiting: boolean;
}

/** A FIFO queue with removal of any entry in constant time. */
class LinkedQueue<T> {
  #first: QueueEntry<T> | undefined;
  #last: QueueEntry<T> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The next value; undefined when empty. */
  get first(): T | undefined {
    return this.#first?.value;
  }

  join(value: T): QueueEntry<T> {
    const place: QueueEntry<T> = { value, next: undefined, previous: this.#last, isWaiting: true };
    if (this.#last === undefined) this.#first = place;
    else this.#last.next = place;
    this.#last = place;
    this.#size += 1;
    return place;
  }

  /** Removes and returns the first value; undefined when empty. */
  take(): T | undefined {
    const place = this.#first;
    if (place === undefined) return undefined;
    this.leave(place);
    return place.value;
  }

  /** Removes an entry. Repeated calls have no effect. */
  leave(place: QueueEntry<T>): void {
    if (!place.isWaiting) return;
    place.isWaiting = false;
    if (place.previous === undefined) this.#first = place.next;
    else place.previous.next = place.next;
    if (place.next === undefined) this.#last = place.previous;
    else place.next.previous = place.previous;
    this.#size -= 1;
  }
}

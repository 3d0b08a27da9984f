import type { Clock } from '../../util/clock.ts';
import { invariant } from '../../util/invariant.ts';
import { abortedError } from '../errors.ts';
import type { Flow } from '../roles.ts';
import { type Place, WaitingLine } from './waiting-line.ts';

const priorities = ['world', 'status', 'event'] as const;
type Order = readonly Flow['priority'][];
/** Every so many turns of a flow one is taken from below, so that the status of a flow that is busy for ever gets its say. */
const turnsBetween = 16;
/** From below it is the status and the Events in turn: none of the two may hold up the other for ever. */
const fromBelow: readonly [Order, Order] = [
  ['status', 'event', 'world'],
  ['event', 'status', 'world'],
];

/** Characters of the bodies that one flow has in flight: large ones of one definition hold up the server and this process for all others. */
const maxFlowBytes = 1024 * 1024;

/** A request that is to be sent. */
export interface QueuedRequest extends Flow {
  /** Of its body, roughly. @default 0 */
  readonly bytes?: number;
}

/** Gives a slot back. Calling it again does nothing. */
export type Release = () => void;

export interface FairQueueOptions {
  /** How many may be in flight at once. */
  readonly slots: number;
  readonly clock: Clock;
  /** Told how many wait, at every change. */
  readonly onDepth?: (priority: Flow['priority'], depth: number) => void;
  /** Told how long each had to wait that got a slot. */
  readonly onGranted?: (priority: Flow['priority'], waitedMs: number) => void;
}

interface Waiter {
  readonly bytes: number;
  readonly sinceMs: number;
  readonly go: (release: Release) => void;
}

interface FlowState {
  readonly name: string;
  readonly lines: Readonly<Record<Flow['priority'], WaitingLine<Waiter>>>;
  inFlight: number;
  bytesInFlight: number;
  /** Turns that it has had. */
  turns: number;
}

/**
 * Who may send next. In flight are at most `slots` requests; the flows that wait take turns, within a
 * flow `world` goes before `status` and this before `event` (one turn in sixteen the other way round), and a flow that holds three quarters of
 * the slots gets no more while another waits. Of one flow bodies of {@link maxFlowBytes} are in flight at most, or a single larger one.
 * Nothing is kept of a flow that neither waits nor sends.
 */
export class FairQueue {
  readonly #slots: number;
  /** How many slots one flow may hold while another waits. */
  readonly #share: number;
  readonly #clock: Clock;
  readonly #onDepth: (priority: Flow['priority'], depth: number) => void;
  readonly #onGranted: (priority: Flow['priority'], waitedMs: number) => void;
  readonly #flows = new Map<string, FlowState>();
  /** Flows with somebody in line; the one whose turn is next comes first. */
  readonly #turns = new Set<FlowState>();
  readonly #depths: Record<Flow['priority'], number> = { world: 0, status: 0, event: 0 };
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

  /** How many wait. */
  get depth(): number {
    return priorities.reduce((sum, priority) => sum + this.#depths[priority], 0);
  }

  /** How many flows are known: those that wait or send. */
  get flowCount(): number {
    return this.#flows.size;
  }

  /**
   * Waits for a slot; the caller gives it back by calling the result.
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
      const place = state.lines[priority].join({ bytes, sinceMs: this.#clock.monotonicMs(), go });
      signal.addEventListener('abort', onAbort, { once: true });
      this.#turns.add(state);
      this.#countDepth(priority, 1);
      // A slot may be free that was kept from a flow at its limit.
      this.#dispatch();
    });
  }

  #leave(state: FlowState, priority: Flow['priority'], place: Place<Waiter>): void {
    state.lines[priority].leave(place);
    this.#countDepth(priority, -1);
    this.#settle(state);
    // The limit of a flow ends when nobody else waits.
    this.#dispatch();
  }

  #dispatch(): void {
    while (this.#inFlight < this.#slots) {
      const state = this.#nextFlow();
      if (state === undefined) return;
      const [priority, waiter] = takeFrom(state);
      this.#countDepth(priority, -1);
      // To the end of the line of turns, or out of it.
      this.#turns.delete(state);
      const release = this.#grant(state, waiter.bytes);
      if (isWaiting(state)) this.#turns.add(state);
      this.#onGranted(priority, this.#clock.monotonicMs() - waiter.sinceMs);
      waiter.go(release);
    }
  }

  /** The first in turn below its limits; alone in line it may have all slots. */
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
    const lines = {
      world: new WaitingLine<Waiter>(),
      status: new WaitingLine<Waiter>(),
      event: new WaitingLine<Waiter>(),
    };
    const state: FlowState = { name, inFlight: 0, bytesInFlight: 0, turns: 0, lines };
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

function isWaiting({ lines }: FlowState): boolean {
  return lines.world.size + lines.status.size + lines.event.size > 0;
}

/** A single body may be larger than all of them together may be. */
function hasRoom({ bytesInFlight }: FlowState, bytes: number): boolean {
  return bytesInFlight === 0 || bytesInFlight + bytes <= maxFlowBytes;
}

/** The request of the flow that is sent next. */
function nextOf(state: FlowState): {
  readonly priority: Flow['priority'];
  readonly waiter: Waiter;
} {
  for (const priority of orderOf(state)) {
    const waiter = state.lines[priority].first;
    if (waiter !== undefined) return { priority, waiter };
  }
  throw new Error('A flow without waiters has no turn');
}

function takeFrom(state: FlowState): readonly [Flow['priority'], Waiter] {
  const { priority, waiter } = nextOf(state);
  state.lines[priority].take();
  state.turns += 1;
  return [priority, waiter];
}

/** Of its next turn. */
function orderOf({ turns }: FlowState): Order {
  const turn = turns + 1;
  if (turn % turnsBetween !== 0) return priorities;
  return fromBelow[(turn / turnsBetween) % 2 === 1 ? 0 : 1];
}

function ignore(): void {
  // Nobody measures.
}

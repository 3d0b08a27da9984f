import { invariant } from '../../util/invariant.ts';
import { abortedError } from '../errors.ts';
import type { Flow } from '../roles.ts';
import { type Place, WaitingLine } from './waiting-line.ts';

const priorities = ['world', 'status', 'event'] as const;

/** Gives a slot back. Calling it again does nothing. */
export type Release = () => void;

export interface FairQueueOptions {
  /** How many may be in flight at once. */
  readonly slots: number;
  /** Told how many wait, at every change. */
  readonly onDepth?: (priority: Flow['priority'], depth: number) => void;
}

type Waiter = (release: Release) => void;

interface FlowState {
  readonly name: string;
  readonly lines: Readonly<Record<Flow['priority'], WaitingLine<Waiter>>>;
  inFlight: number;
}

/**
 * Who may send next. In flight are at most `slots` requests; the flows that wait take turns, within a
 * flow `world` goes before `status` and this before `event`, and a flow that holds three quarters of
 * the slots gets no more while another waits. Nothing is kept of a flow that neither waits nor sends.
 */
export class FairQueue {
  readonly #slots: number;
  /** How many slots one flow may hold while another waits. */
  readonly #share: number;
  readonly #onDepth: (priority: Flow['priority'], depth: number) => void;
  readonly #flows = new Map<string, FlowState>();
  /** Flows with somebody in line; the one whose turn is next comes first. */
  readonly #turns = new Set<FlowState>();
  readonly #depths: Record<Flow['priority'], number> = { world: 0, status: 0, event: 0 };
  #inFlight = 0;

  constructor({ slots, onDepth = ignoreDepth }: FairQueueOptions) {
    invariant(slots >= 1, 'A fair queue has at least one slot');
    this.#slots = slots;
    this.#share = Math.max(1, Math.floor((slots * 3) / 4));
    this.#onDepth = onDepth;
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
  async acquire(flow: Flow, signal: AbortSignal): Promise<Release> {
    if (signal.aborted) throw abortedError(signal.reason);
    const state = this.#stateOf(flow.name);
    if (this.#inFlight < this.#slots && this.depth === 0) return this.#grant(state);
    return this.#wait(state, flow.priority, signal);
  }

  #wait(state: FlowState, priority: Flow['priority'], signal: AbortSignal): Promise<Release> {
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        this.#leave(state, priority, place);
        reject(abortedError(signal.reason));
      };
      const place = state.lines[priority].join((release) => {
        signal.removeEventListener('abort', onAbort);
        resolve(release);
      });
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
      const release = this.#grant(state);
      if (isWaiting(state)) this.#turns.add(state);
      waiter(release);
    }
  }

  /** The first in turn below its limit; alone in line there is no limit. */
  #nextFlow(): FlowState | undefined {
    for (const state of this.#turns) {
      if (this.#turns.size === 1 || state.inFlight < this.#share) return state;
    }
    return undefined;
  }

  #grant(state: FlowState): Release {
    this.#inFlight += 1;
    state.inFlight += 1;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#inFlight -= 1;
      state.inFlight -= 1;
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
    const state: FlowState = { name, inFlight: 0, lines };
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

function takeFrom({ lines }: FlowState): readonly [Flow['priority'], Waiter] {
  for (const priority of priorities) {
    const waiter = lines[priority].take();
    if (waiter !== undefined) return [priority, waiter];
  }
  throw new Error('A flow without waiters has no turn');
}

function ignoreDepth(): void {
  // Nobody measures.
}

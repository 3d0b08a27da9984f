import type { Clock } from '#util/clock.ts';

/** A response that is being received, as its budget controls it. */
export interface ReceivedResponse {
  /** Stops reading. */
  pause(): void;
  /** Continues reading. */
  resume(): void;
  /** Ends it as failed: it was too slow while others waited. */
  expire(): void;
}

/** What one response takes of a {@link ReceiveBudget}. */
export interface Receipt {
  /** Adds bytes that were received. It may pause the response. */
  add(bytes: number): void;
  /** Releases all of them. Later calls have no effect. */
  close(): void;
}

/** Counts the responses of one server. */
export interface ServerReceipts {
  open(response: ReceivedResponse): Receipt;
}

interface ReceiveBudgetOptions {
  readonly clock: Clock;
  /** Of all responses together. Below twice `maxResponseBytes`, one response may exceed it. */
  readonly maxBytes: number;
  /** Of one response. */
  readonly maxResponseBytes: number;
}

interface Server {
  counted: number;
  /** Number of its newest turn. */
  newest: number;
  /** Paused, oldest first. */
  readonly waiting: Set<Response>;
}

interface Response {
  readonly server: Server;
  readonly control: ReceivedResponse;
  held: number;
  /** What it may hold before it is paused again, at least what it holds. Without the rest of the one that is read to its end. */
  counted: number;
  state: 'reading' | 'waiting' | 'turn' | 'closed';
}

/** Of one response: so small ones never wait. */
const smallBytes = 65_536;
/** What may be read in one turn. */
const turnBytes = 2_097_152;
/** A turn is longer only while no other response waits. */
const turnMs = 10_000;
/** Of the room that is free for all: others have room beside the slow responses of one server. */
const shareOfServer = 1 / 8;

/**
 * How many bytes of responses may be held while they are being received. A part is free: responses are read without order. When it is full,
 * they are paused, and wait for turns; one of them at a time is read to its end, for which there is always room, so that no response waits
 * forever. Servers take turns, and each server's responses are in order.
 */
export class ReceiveBudget {
  readonly #clock: Clock;
  /** Of all that is counted. */
  readonly #maxCounted: number;
  #counted = 0;
  #granted = 0;
  /** Servers with responses that wait. */
  readonly #waiting = new Set<Server>();
  /** Ends the timers of turns. */
  readonly #timers = new Map<Response, () => void>();
  /** The one that is read to its end. */
  #last: Response | undefined;

  constructor({ clock, maxBytes, maxResponseBytes }: ReceiveBudgetOptions) {
    this.#clock = clock;
    this.#maxCounted = Math.max(maxBytes / 2, maxBytes - maxResponseBytes);
  }

  /** Begins to count a server. */
  server(): ServerReceipts {
    const server: Server = { counted: 0, newest: 0, waiting: new Set() };
    return { open: (control) => this.#open(server, control) };
  }

  #open(server: Server, control: ReceivedResponse): Receipt {
    const response: Response = { server, control, held: 0, counted: 0, state: 'reading' };
    return {
      add: (bytes) => this.#add(response, bytes),
      close: () => this.#close(response),
    };
  }

  #add(response: Response, bytes: number): void {
    if (response.state === 'closed' || response === this.#last) return;
    response.held += bytes;
    if (response.held <= response.counted) return;
    this.#count(response, response.held - response.counted);
    if (response.state === 'waiting' || response.held <= smallBytes) return;
    if (response.state === 'reading' && this.#isFree(response.server)) return;
    this.#endTurn(response);
    response.state = 'waiting';
    response.server.waiting.add(response);
    this.#waiting.add(response.server);
    response.control.pause();
    this.#grantTurns();
  }

  #close(response: Response): void {
    if (response.state === 'closed') return;
    response.state = 'closed';
    this.#endTurn(response);
    this.#endWait(response);
    this.#count(response, -response.counted);
    this.#grantTurns();
  }

  #isFree({ counted }: Server): boolean {
    const free = this.#maxCounted / 2;
    return this.#counted <= free && counted <= free * shareOfServer;
  }

  #count(response: Response, bytes: number): void {
    response.counted += bytes;
    response.server.counted += bytes;
    this.#counted += bytes;
  }

  #endWait(response: Response): void {
    const { server } = response;
    server.waiting.delete(response);
    if (server.waiting.size === 0) this.#waiting.delete(server);
  }

  #endTurn(response: Response): void {
    if (this.#last === response) this.#last = undefined;
    this.#timers.get(response)?.();
    this.#timers.delete(response);
  }

  #grantTurns(): void {
    while (this.#waiting.size > 0) {
      const servers = [...this.#waiting].sort((a, b) => a.newest - b.newest);
      const fitting = servers.find((server) => this.#hasRoom(server));
      if (fitting === undefined && this.#last !== undefined) return;
      const [response] = (fitting ?? servers[0])?.waiting ?? [];
      if (response === undefined) return;
      if (fitting === undefined) this.#last = response;
      else this.#count(response, turnBytes);
      this.#startTurn(response);
    }
  }

  /** Whether a response of the server may have a turn. Servers leave room for each other. */
  #hasRoom({ counted }: Server): boolean {
    const max = this.#maxCounted;
    return this.#counted + turnBytes <= max && counted + turnBytes <= max / 4;
  }

  #startTurn(response: Response): void {
    this.#endWait(response);
    response.state = 'turn';
    response.server.newest = ++this.#granted;
    this.#limitTurn(response);
    response.control.resume();
  }

  #limitTurn(response: Response): void {
    const onTime = () => {
      if (this.#waiting.size > 0) response.control.expire();
      else this.#limitTurn(response);
    };
    this.#timers.set(response, this.#clock.after(turnMs, onTime));
  }
}

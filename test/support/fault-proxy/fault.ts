import type { ProxiedRequest, RequestVerb } from './proxied-request.ts';

/** What is done to a request or to its answer. */
export type RequestAction =
  /** Answers in the server's place; nothing is forwarded. */
  | { readonly kind: 'answer'; readonly status: number; readonly retryAfterSeconds?: number }
  /** Resets the connection, before the request was forwarded or when its answer is there: the answer is lost. */
  | { readonly kind: 'reset'; readonly when: 'before' | 'after' }
  /** Forwards or answers later, in ms. */
  | { readonly kind: 'delay'; readonly requestMs?: number; readonly answerMs?: number }
  /** Holds the request, or its answer, until the fault is released or removed. */
  | { readonly kind: 'hold'; readonly what: 'request' | 'answer' }
  /** Sends half of the answer and breaks the connection. */
  | { readonly kind: 'truncate' }
  /** Asks the server to end a watch so soon: it sends a bookmark, and then the end. */
  | { readonly kind: 'shorten'; readonly seconds: number }
  /** Holds answers until there are so many, then sends them the other way round. */
  | { readonly kind: 'reorder'; readonly count: number }
  /** Lists in smaller pages than was asked for. */
  | { readonly kind: 'paginate'; readonly pageSize: number }
  /**
   * Tells the test, which decides whether the server gets the request, and then, if it wants to know, when the answer is
   * on its way to the runtime.
   */
  | {
      readonly kind: 'call';
      run(request: ProxiedRequest): Promise<'forward' | 'drop'>;
      answered?(): Promise<void>;
    };

/** What is done to a watch when an event passes. */
export type EventAction =
  /** Ends the stream in place of the event: between two lines, or in the middle of this one. */
  | { readonly kind: 'cut'; readonly midLine: boolean }
  /** From this event on nothing passes, and the connection stays open; it is cut when the fault is removed. */
  | { readonly kind: 'silence' }
  /** An ERROR event in place of the event, and the end of the stream. */
  | { readonly kind: 'error'; readonly status: number }
  /** Sends the event twice in a row, and once more after the one that follows it. */
  | { readonly kind: 'duplicate' }
  /** This event, and all that wait behind it, come later, in ms. */
  | { readonly kind: 'lag'; readonly ms: number };

interface FaultBase {
  readonly name: string;
  /** Which requests, or events of which watches. @default all */
  readonly when?: (request: ProxiedRequest) => boolean;
  /** So many that match are let through first. @default 0 */
  readonly after?: number;
  /** How often it acts at most. @default Infinity */
  readonly times?: number;
}

export interface RequestFault extends FaultBase {
  readonly on: 'request';
  readonly action: RequestAction;
}

export interface EventFault extends FaultBase {
  readonly on: 'event';
  readonly action: EventAction;
}

export type Fault = RequestFault | EventFault;

export interface RequestSelector {
  readonly verb?: RequestVerb | readonly RequestVerb[];
  readonly resource?: string | readonly string[];
  readonly isLaterPage?: boolean;
}

/** A predicate by verb, resource and page. */
export function matching({ verb, resource, isLaterPage }: RequestSelector) {
  return (request: ProxiedRequest): boolean =>
    isOneOf(request.verb, verb) &&
    isOneOf(request.resource, resource) &&
    (isLaterPage === undefined || request.isLaterPage === isLaterPage);
}

function isOneOf(value: string, wanted: string | readonly string[] | undefined): boolean {
  if (wanted === undefined) return true;
  return typeof wanted === 'string' ? value === wanted : wanted.includes(value);
}

/** What a page and its worker send each other. Contract between both. */
import type { BackendErrorCode, ManifestText, ResourceRef } from '#web';

/** One side of a connection: a worker, its global scope, or a port. */
export interface MessageEnd {
  postMessage(message: unknown): void;
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void;
}

/** From the page. Each question and each stream has a number of its own. */
export type PageMessage =
  | {
      readonly kind: 'ask';
      readonly number: number;
      readonly question: string;
      readonly body: unknown;
    }
  | { readonly kind: 'open'; readonly number: number; readonly body: unknown }
  /** The page does not wait any more. */
  | { readonly kind: 'stop'; readonly number: number };

/** From the worker. */
export type WorkerMessage =
  /** The answer of a question, or the next value of a stream. */
  | { readonly kind: 'value'; readonly number: number; readonly value: unknown }
  /** The stream has ended. */
  | { readonly kind: 'end'; readonly number: number }
  | {
      readonly kind: 'error';
      readonly number: number;
      readonly code: BackendErrorCode;
      readonly message: string;
    };

/** The folder of samples: other files hold definitions. As in a folder of `homeostat dev`. */
export const samplesFolder = 'samples/';

export function isSampleFile(file: string): boolean {
  return file.startsWith(samplesFolder);
}

/** The question `apply`: definitions run as they are in these files, and samples are applied. */
export interface ApplyRequest {
  readonly files: readonly ManifestText[];
}

/** What the files changed. */
export interface ApplyReport {
  /** One sentence each: `Created WebApp "site"`. */
  readonly done: readonly string[];
  /** Why something is not applied. */
  readonly problems: readonly string[];
  /** Resources of the definitions among the samples. */
  readonly resources: readonly ResourceRef[];
  /** Names of the definitions that run. */
  readonly definitions: readonly string[];
}

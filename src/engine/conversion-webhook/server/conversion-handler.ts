import type { IncomingMessage } from 'node:http';
import { type Logger, type MetricRegistry, metricCatalogue } from '#telemetry/roles.ts';
import type { Clock } from '#util/clock.ts';
import { parseConversionPath } from '../webhook-address.ts';
import { maxBodyBytes, readBody } from './request-body.ts';
import {
  type ConversionRequest,
  convertAll,
  parseReview,
  type ReviewResult,
  reviewResponse,
  statusResponse,
} from './review.ts';
import { isProblem, type ServedCrds } from './served-crds.ts';
import type { Answer } from './webhook-server.ts';

interface ConversionHandlerOptions {
  readonly crds: Pick<ServedCrds, 'find'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
}

/** Answers the requests of the API server. */
export class ConversionHandler {
  readonly #options: ConversionHandlerOptions;
  readonly #total;
  readonly #seconds;

  constructor(options: ConversionHandlerOptions) {
    this.#options = options;
    this.#total = options.metrics.counter(metricCatalogue.conversions);
    this.#seconds = options.metrics.histogram(metricCatalogue.conversionSeconds);
  }

  /** Answers a request. Undefined: its connection cannot be used any more. Never rejects. */
  async handle(request: IncomingMessage, signal: AbortSignal): Promise<Answer | undefined> {
    try {
      return await this.#answer(request, signal);
    } catch (error) {
      // The connection broke while the body was read; otherwise it is an error of ours.
      if (!request.errored)
        this.#options.logger.error({ err: error }, 'A request to the conversion webhook failed');
      return undefined;
    }
  }

  async #answer(request: IncomingMessage, signal: AbortSignal): Promise<Answer> {
    const path = parseConversionPath(request.url ?? '');
    const text = await readBody(request);
    if (path === undefined)
      return rejected(404, 'Expected a path as /convert/<CustomResourceDefinition>/<digest>');
    if (request.method !== 'POST') return rejected(405, 'Expected a POST');
    if (text === undefined)
      return rejected(413, `The ConversionReview has more than ${maxBodyBytes} bytes`);
    const review = parseReview(text);
    if (typeof review === 'string') return rejected(400, review);
    return { status: 200, body: await this.#convert(path, review, signal) };
  }

  /** Returns the body of the response. */
  async #convert(
    { crd, digest }: { readonly crd: string; readonly digest: string },
    review: ConversionRequest,
    signal: AbortSignal,
  ): Promise<string> {
    const { crds, clock, logger } = this.#options;
    const startMs = clock.monotonicMs();
    const found = await crds.find(crd, digest, signal);
    if (isProblem(found)) {
      logger.warn({ crd, digest, reason: found.problem }, 'A conversion cannot be done');
      // Neither has a bounded number of values: any client may name others.
      this.#total.increment(['', '', 'failed'], review.objects.length);
      return reviewResponse(review.uid, { result: 'failed', message: found.problem });
    }
    const { definition, versions } = found;
    const asked = review.desiredApiVersion.split('/').at(-1) ?? '';
    const version = versions.includes(asked) ? asked : '';
    const { answer, body } = this.#convertAll(review, found, crd);
    this.#total.increment([definition, version, answer.result], review.objects.length);
    this.#seconds.observe((clock.monotonicMs() - startMs) / 1_000, [definition]);
    if (answer.result !== 'converted')
      logger.warn({ crd, version, reason: answer.message }, 'A conversion cannot be done');
    return body;
  }

  #convertAll(...[review, found, crd]: [...Parameters<typeof convertAll>, string]): Converted {
    try {
      const answer = convertAll(review, found);
      return { answer, body: reviewResponse(review.uid, answer) };
    } catch (error) {
      this.#options.logger.error({ err: error, crd }, 'A request to the conversion webhook failed');
      const message = 'The conversion failed with an internal error';
      const answer = { result: 'failed', message } as const;
      return { answer, body: reviewResponse(review.uid, answer) };
    }
  }
}

/** What became of a request, and the body of its response. */
interface Converted {
  readonly answer: ReviewResult;
  readonly body: string;
}

function rejected(status: number, message: string): Answer {
  return { status, body: statusResponse(status, message) };
}

import { objectNamePattern } from '#util/object-name.ts';
import {
  BackendError,
  type Change,
  type ConsoleBackend,
  type EvaluateRequest,
  type KubeRequest,
  type ManifestText,
  type ResourceRef,
  type WatchRequest,
} from '#web';
import {
  anything,
  choice,
  flag,
  oneOf,
  optional,
  record,
  type Shape,
  text,
  texts,
} from './body-shape.ts';

const apiVersion = text(/^[A-Za-z0-9][A-Za-z0-9.-]*(?:\/[A-Za-z0-9]+)?$/);
const objectName = text(objectNamePattern);
const resource = record({
  apiVersion,
  kind: text(/^[A-Za-z0-9]+$/),
  namespace: optional(objectName),
  name: objectName,
});
const manifest = record({ file: text(), text: text() });

/** The bodies of questions, by their names. */
const questions: Readonly<Record<string, Shape>> = {
  info: record({}),
  request: record({
    method: oneOf('GET', 'PATCH', 'DELETE'),
    path: text(),
    query: optional(texts),
    body: optional(anything),
    patch: optional(oneOf('merge', 'apply')),
    reveal: optional(flag),
  }),
  definition: record({ name: objectName }),
  check: manifest,
  parse: record({ text: text() }),
  explain: resource,
  preview: choice('kind', {
    resource: record({ kind: anything, text: text() }),
    definition: record({ kind: anything, manifest }),
  }),
  evaluate: record({ resource, expression: text() }),
  save: manifest,
};

const streams = choice('kind', {
  watch: record({ kind: anything, path: text(), query: optional(texts) }),
  reconciles: record({ kind: anything, resource }),
  queues: record({ kind: anything }),
});

/** Answers a question of a page by its name. @throws BackendError, also for an unknown question and a body that does not belong to it */
export async function answer(
  backend: ConsoleBackend,
  question: string,
  body: unknown,
  signal: AbortSignal,
): Promise<unknown> {
  const shape = Object.hasOwn(questions, question) ? questions[question] : undefined;
  if (shape === undefined) throw new BackendError('not-found', `Unknown question "${question}"`);
  assertShape(shape, body);
  const { name, text: content } = body as { readonly name: string; readonly text: string };
  switch (question) {
    case 'info':
      return backend.info(signal);
    case 'request':
      return backend.request(body as KubeRequest, signal);
    case 'definition':
      return backend.definition(name, signal);
    case 'check':
      return backend.check(body as ManifestText, signal);
    case 'parse':
      return backend.parse(content, signal);
    case 'explain':
      return backend.explain(body as ResourceRef, signal);
    case 'preview':
      return backend.preview(body as Change, signal);
    case 'evaluate':
      return backend.evaluate(body as EvaluateRequest, signal);
    default:
      return backend.save(body as ManifestText, signal);
  }
}

/** The values of a stream of a page. @throws BackendError for an unknown stream, and a body that does not belong to it */
export function openStream(
  backend: ConsoleBackend,
  body: unknown,
  signal: AbortSignal,
): AsyncIterable<unknown> {
  assertShape(streams, body);
  const { kind, resource: of } = body as { readonly kind: string; readonly resource: ResourceRef };
  if (kind === 'watch') return backend.watch(body as WatchRequest, signal);
  return kind === 'reconciles' ? backend.reconciles(of, signal) : backend.queues(signal);
}

function assertShape(shape: Shape, body: unknown): void {
  const wrong = shape(body, '');
  if (wrong !== undefined) throw new BackendError('invalid', wrong);
}

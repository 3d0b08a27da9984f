import {
  BackendError,
  type Change,
  type ConsoleBackend,
  type EvaluateRequest,
  type KubeRequest,
  type ManifestText,
  type ResourceRef,
  type WatchRequest,
} from '../web/index.ts';

/** Answers a question of a page by its name. @throws BackendError, also for an unknown question */
export function answer(
  backend: ConsoleBackend,
  question: string,
  body: unknown,
  signal: AbortSignal,
): Promise<unknown> {
  const { name, text } = body as { readonly name: string; readonly text: string };
  switch (question) {
    case 'info':
      return backend.info(signal);
    case 'request':
      return backend.request(body as KubeRequest, signal);
    case 'definition':
      return backend.definition(String(name), signal);
    case 'check':
      return backend.check(body as ManifestText, signal);
    case 'parse':
      return backend.parse(String(text), signal);
    case 'explain':
      return backend.explain(body as ResourceRef, signal);
    case 'preview':
      return backend.preview(body as Change, signal);
    case 'evaluate':
      return backend.evaluate(body as EvaluateRequest, signal);
    case 'save':
      return backend.save(body as ManifestText, signal);
    default:
      return Promise.reject(new BackendError('not-found', `Unknown question "${question}"`));
  }
}

/** The values of a stream of a page. @throws BackendError for an unknown stream */
export function openStream(
  backend: ConsoleBackend,
  body: unknown,
  signal: AbortSignal,
): AsyncIterable<unknown> {
  const { kind, resource } = body as { readonly kind: string; readonly resource: ResourceRef };
  if (kind === 'watch') return backend.watch(body as WatchRequest, signal);
  if (kind === 'reconciles') return backend.reconciles(resource, signal);
  if (kind === 'queues') return backend.queues(signal);
  throw new BackendError('not-found', `Unknown stream "${kind}"`);
}

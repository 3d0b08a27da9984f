import type {
  Change,
  ConsoleBackend,
  ConsoleInfo,
  DefinitionView,
  DiagnosticView,
  EvaluateRequest,
  EvaluationView,
  KubeRequest,
  KubeResponse,
  ManifestText,
  ParsedText,
  PreviewView,
  QueueDepths,
  ReconcileRecord,
  ResourceRef,
  ResourceView,
  WatchEvent,
  WatchRequest,
} from '../contract.ts';

/** A stream to open: a watch, the reconciles of a resource, or the work queues. */
export interface StreamRequest {
  readonly kind: 'watch' | 'reconciles' | 'queues';
  readonly [field: string]: unknown;
}

/** The values of a stream. */
export type Values<Value> = AsyncGenerator<Value, void, undefined>;

/** A backend elsewhere, which is asked by names of questions. The names are those of `src/console/console/questions.ts`. */
export abstract class AskingBackend implements ConsoleBackend {
  /** @throws BackendError */
  abstract ask<Answer>(question: string, body: unknown, signal: AbortSignal): Promise<Answer>;

  /** The values of a stream. @throws BackendError when it cannot be opened, or breaks */
  protected abstract open(request: StreamRequest, signal: AbortSignal): Values<unknown>;

  info(signal: AbortSignal): Promise<ConsoleInfo> {
    return this.ask('info', {}, signal);
  }

  request(request: KubeRequest, signal: AbortSignal): Promise<KubeResponse> {
    return this.ask('request', request, signal);
  }

  watch(request: WatchRequest, signal: AbortSignal): Values<WatchEvent> {
    return this.open({ kind: 'watch', ...request }, signal) as Values<WatchEvent>;
  }

  definition(name: string, signal: AbortSignal): Promise<DefinitionView> {
    return this.ask('definition', { name }, signal);
  }

  check(manifest: ManifestText, signal: AbortSignal): Promise<readonly DiagnosticView[]> {
    return this.ask('check', manifest, signal);
  }

  parse(text: string, signal: AbortSignal): Promise<ParsedText> {
    return this.ask('parse', { text }, signal);
  }

  explain(resource: ResourceRef, signal: AbortSignal): Promise<ResourceView> {
    return this.ask('explain', resource, signal);
  }

  preview(change: Change, signal: AbortSignal): Promise<PreviewView> {
    return this.ask('preview', change, signal);
  }

  evaluate(request: EvaluateRequest, signal: AbortSignal): Promise<EvaluationView> {
    return this.ask('evaluate', request, signal);
  }

  save(manifest: ManifestText, signal: AbortSignal): Promise<void> {
    return this.ask('save', manifest, signal);
  }

  reconciles(resource: ResourceRef, signal: AbortSignal): Values<ReconcileRecord> {
    return this.open({ kind: 'reconciles', resource }, signal) as Values<ReconcileRecord>;
  }

  queues(signal: AbortSignal): Values<QueueDepths> {
    return this.open({ kind: 'queues' }, signal) as Values<QueueDepths>;
  }
}

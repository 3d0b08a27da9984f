import type { Clock } from '../util/clock.ts';
import {
  completionsOf,
  definitionOf,
  fixesOf,
  hoverOf,
  referencesOf,
  symbolsOf,
} from './answers.ts';
import { TextChecker } from './check-text.ts';
import { type Knowledge, loadKnowledge, withTexts } from './knowledge.ts';
import { markOf } from './marks.ts';
import { OpenDocument } from './open-document.ts';
import {
  CodeActionKind,
  CodeActionRequest,
  CompletionRequest,
  createProtocolConnection,
  DefinitionRequest,
  DidChangeTextDocumentNotification,
  DidCloseTextDocumentNotification,
  DidOpenTextDocumentNotification,
  DocumentSymbolRequest,
  ErrorCodes,
  ExitNotification,
  HoverRequest,
  InitializeRequest,
  type InitializeResult,
  LogMessageNotification,
  MessageType,
  type ProtocolConnection,
  PublishDiagnosticsNotification,
  type PublishDiagnosticsParams,
  ReferencesRequest,
  ResponseError,
  ShutdownRequest,
  StreamMessageReader,
  StreamMessageWriter,
  TextDocument,
  TextDocumentSyncKind,
} from './protocol.ts';

export interface LanguageServerOptions {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  readonly clock: Clock;
  /** Version that is sent to the client. */
  readonly version: string;
  /** Receives the reason why the connection cannot continue: a message that is none of the protocol. */
  readonly onBrokenConnection: (reason: string) => void;
  /** Time without a change after which a text is checked, in ms. @default 150 */
  readonly checkAfterMs?: number;
}

/** How a session ended: as the protocol says, or without `shutdown`. */
export type SessionEnd = 'shutdown' | 'disconnected';

/**
 * Serves one client over a pair of streams, until it sends `exit`, its stream ends, or the signal is aborted (an end as by `shutdown`).
 * Nothing that a client sends makes it throw: an error is the response to the request.
 */
export async function serveLanguage(
  options: LanguageServerOptions,
  signal: AbortSignal,
): Promise<SessionEnd> {
  return new Session(options, await loadKnowledge()).run(signal);
}

class Session {
  readonly #connection: ProtocolConnection;
  readonly #options: LanguageServerOptions;
  readonly #knowledge: Knowledge;
  readonly #checker = new TextChecker();
  readonly #open = new Map<string, OpenDocument>();
  /** Cancels the checks that wait, by URI. */
  readonly #waiting = new Map<string, () => void>();
  #state: 'new' | 'initialized' | 'shutdown' = 'new';

  constructor(options: LanguageServerOptions, knowledge: Knowledge) {
    const { input, output } = options;
    this.#options = options;
    this.#knowledge = knowledge;
    this.#connection = createProtocolConnection(
      new StreamMessageReader(input),
      new StreamMessageWriter(output),
      {
        error: (message) => this.#log(MessageType.Error, message),
        warn: (message) => this.#log(MessageType.Warning, message),
        info: () => {},
        log: () => {},
      },
    );
  }

  async run(signal: AbortSignal): Promise<SessionEnd> {
    const { promise, resolve } = Promise.withResolvers<SessionEnd>();
    const end = () => resolve(this.#state === 'shutdown' ? 'shutdown' : 'disconnected');
    const stop = () => resolve('shutdown');
    signal.addEventListener('abort', stop, { once: true });
    this.#connection.onNotification(ExitNotification.type, end);
    this.#connection.onClose(end);
    this.#connection.onError(([{ message }]) => {
      this.#options.onBrokenConnection(message);
      end();
    });
    this.#answerLifecycle();
    this.#followDocuments();
    this.#answerQuestions();
    this.#connection.listen();
    if (signal.aborted) stop();
    const how = await promise;
    signal.removeEventListener('abort', stop);
    for (const cancel of this.#waiting.values()) cancel();
    this.#connection.dispose();
    this.#checker.close();
    return how;
  }

  #answerLifecycle(): void {
    const { version } = this.#options;
    this.#connection.onRequest(InitializeRequest.type, (): InitializeResult => {
      this.#state = 'initialized';
      return {
        serverInfo: { name: 'homeostat', version },
        capabilities: {
          textDocumentSync: { openClose: true, change: TextDocumentSyncKind.Incremental },
          completionProvider: { triggerCharacters: ['.', '$', '{', ' '] },
          hoverProvider: true,
          definitionProvider: true,
          referencesProvider: true,
          documentSymbolProvider: true,
          codeActionProvider: { codeActionKinds: [CodeActionKind.QuickFix] },
        },
      };
    });
    this.#connection.onRequest(ShutdownRequest.type, () => {
      this.#state = 'shutdown';
    });
  }

  #followDocuments(): void {
    const connection = this.#connection;
    connection.onNotification(DidOpenTextDocumentNotification.type, ({ textDocument }) => {
      const { uri, languageId, version, text } = textDocument;
      this.#open.set(uri, new OpenDocument(TextDocument.create(uri, languageId, version, text)));
      this.#checkAfter(0, uri);
    });
    connection.onNotification(
      DidChangeTextDocumentNotification.type,
      ({ textDocument: { uri, version }, contentChanges }) => {
        this.#open.get(uri)?.change(contentChanges, version);
        this.#checkAfter(this.#options.checkAfterMs ?? 150, uri);
      },
    );
    connection.onNotification(DidCloseTextDocumentNotification.type, ({ textDocument }) => {
      const { uri } = textDocument;
      this.#open.delete(uri);
      this.#waiting.get(uri)?.();
      this.#waiting.delete(uri);
      this.#publish({ uri, diagnostics: [] });
    });
  }

  #answerQuestions(): void {
    const connection = this.#connection;
    connection.onRequest(CompletionRequest.type, ({ textDocument: { uri }, position }) => [
      ...(this.#ask(uri, (open) => completionsOf(open, position, this.#known())) ?? []),
    ]);
    connection.onRequest(HoverRequest.type, ({ textDocument: { uri }, position }) =>
      this.#ask(uri, (open) => hoverOf(open, position, this.#known())),
    );
    connection.onRequest(DefinitionRequest.type, ({ textDocument: { uri }, position }) =>
      this.#ask(uri, (open) => definitionOf(open, position)),
    );
    connection.onRequest(ReferencesRequest.type, ({ textDocument: { uri }, position, context }) => [
      ...(this.#ask(uri, (open) => referencesOf(open, position, context)) ?? []),
    ]);
    connection.onRequest(DocumentSymbolRequest.type, ({ textDocument: { uri } }) => [
      ...(this.#ask(uri, symbolsOf) ?? []),
    ]);
    connection.onRequest(CodeActionRequest.type, ({ textDocument: { uri }, context }) => [
      ...(this.#ask(uri, (open) => fixesOf(open, context, this.#checker)) ?? []),
    ]);
  }

  /** Documents can use the kinds of the definitions that are open. */
  #known(): Knowledge {
    return withTexts(
      this.#knowledge,
      [...this.#open.values()].map((open) => open.parsed()),
    );
  }

  /** Null: the client has not opened the document. @throws ResponseError before `initialize` and after `shutdown` */
  #ask<Result>(uri: string, answer: (open: OpenDocument) => Result): Result | null {
    if (this.#state === 'new')
      throw new ResponseError(ErrorCodes.ServerNotInitialized, 'Expected "initialize" first');
    if (this.#state === 'shutdown')
      throw new ResponseError(ErrorCodes.InvalidRequest, 'The server has received "shutdown"');
    const open = this.#open.get(uri);
    return open === undefined ? null : answer(open);
  }

  #checkAfter(delayMs: number, uri: string): void {
    this.#waiting.get(uri)?.();
    this.#waiting.set(
      uri,
      this.#options.clock.after(delayMs, () => this.#check(uri)),
    );
  }

  #check(uri: string): void {
    this.#waiting.delete(uri);
    const open = this.#open.get(uri);
    if (open === undefined) return;
    const { document } = open;
    try {
      const found = this.#checker.check(document.getText(), uri);
      const context = { document, parsed: open.parsed() };
      const diagnostics = found.map((each) => markOf(each, context));
      this.#publish({ uri, version: document.version, diagnostics });
    } catch (error) {
      // An error of Homeostat; the session of the author continues.
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
      this.#log(MessageType.Error, text);
    }
  }

  #publish(params: PublishDiagnosticsParams): void {
    void this.#connection.sendNotification(PublishDiagnosticsNotification.type, params);
  }

  #log(type: MessageType, message: string): void {
    void this.#connection.sendNotification(LogMessageNotification.type, { type, message });
  }
}

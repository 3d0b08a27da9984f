import { definitionKind } from '#definition';
import { insideOf } from '#files';
import type { LoadFiles } from '#testing';
import type { Clock } from '#util/clock.ts';
import {
  type AskedDocument,
  completionsOf,
  definitionOf,
  fixesOf,
  hoverOf,
  referencesOf,
  symbolsOf,
} from './answers.ts';
import { type CheckedFile, TextChecker } from './check-text.ts';
import { type Knowledge, loadKnowledge, withTexts } from './knowledge.ts';
import { markOf } from './marks.ts';
import { MessageLimits } from './message-limits.ts';
import { type DefinitionFile, isSampleFile, nearbyDefinitions } from './nearby-definitions.ts';
import { OpenDocument } from './open-document.ts';
import { hasKind, type ParsedText, parseText } from './parsed-text.ts';
import {
  CodeActionKind,
  CodeActionRequest,
  CompletionRequest,
  createProtocolConnection,
  DefinitionRequest,
  DidChangeTextDocumentNotification,
  DidChangeWorkspaceFoldersNotification,
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
import { WorkspaceFolders } from './workspace.ts';

export interface LanguageServerOptions {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  readonly clock: Clock;
  /** Version that is sent to the client. */
  readonly version: string;
  /** Reads the definitions that samples and tests belong to. */
  readonly load: LoadFiles;
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
  readonly #checker: TextChecker;
  readonly #open = new Map<string, OpenDocument>();
  /** Cancels the checks that wait, by URI. */
  readonly #waiting = new Map<string, () => void>();
  /** Ends the slow checks that run, by URI. */
  readonly #proving = new Map<string, AbortController>();
  /** Definitions that are not open, by file. */
  readonly #parsed = new Map<string, ParsedText>();
  readonly #folders = new WorkspaceFolders();
  #state: 'new' | 'initialized' | 'shutdown' = 'new';
  /** A check may still run. */
  #isOver = false;

  constructor(options: LanguageServerOptions, knowledge: Knowledge) {
    const { input, output } = options;
    this.#options = options;
    this.#knowledge = knowledge;
    this.#checker = new TextChecker(
      (path) => this.#load(path),
      ({ source }) => this.#folders.readable([source.file]),
    );
    const limits = new MessageLimits();
    input.on('error', (error) => limits.destroy(error));
    input.on('close', () => limits.end());
    this.#connection = createProtocolConnection(
      new StreamMessageReader(input.pipe(limits)),
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
    for (const uri of this.#proving.keys()) this.#stopProof(uri);
    this.#isOver = true;
    this.#connection.dispose();
    this.#checker.close();
    return how;
  }

  #answerLifecycle(): void {
    const { version } = this.#options;
    this.#connection.onRequest(InitializeRequest.type, (params): InitializeResult => {
      this.#state = 'initialized';
      this.#folders.open(params);
      return {
        serverInfo: { name: 'homeostat', version },
        capabilities: {
          workspace: { workspaceFolders: { supported: true, changeNotifications: true } },
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
    this.#connection.onNotification(
      DidChangeWorkspaceFoldersNotification.type,
      ({ event: { added, removed } }) => {
        this.#folders.change(added, removed);
        for (const uri of this.#open.keys()) this.#checkAfter(0, uri);
      },
    );
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
        const open = this.#open.get(uri);
        if (open === undefined) return;
        open.change(contentChanges, version);
        const { checkAfterMs = 150 } = this.#options;
        this.#checkAfter(checkAfterMs, uri);
        // Samples and tests are checked with the definitions that they belong to.
        if (hasKind(open.document.getText(), definitionKind))
          for (const other of this.#open.keys())
            if (other !== uri) this.#checkAfter(checkAfterMs, other);
      },
    );
    connection.onNotification(DidCloseTextDocumentNotification.type, ({ textDocument }) => {
      const { uri } = textDocument;
      this.#open.delete(uri);
      this.#waiting.get(uri)?.();
      this.#waiting.delete(uri);
      this.#stopProof(uri);
      this.#publish({ uri, diagnostics: [] });
    });
  }

  #answerQuestions(): void {
    const connection = this.#connection;
    connection.onRequest(CompletionRequest.type, async ({ textDocument: { uri }, position }) => [
      ...((await this.#ask(uri, (asked) => completionsOf(asked, position, asked.knowledge))) ?? []),
    ]);
    connection.onRequest(HoverRequest.type, ({ textDocument: { uri }, position }) =>
      this.#ask(uri, (asked) => hoverOf(asked, position, asked.knowledge)),
    );
    connection.onRequest(DefinitionRequest.type, ({ textDocument: { uri }, position }) =>
      this.#ask(uri, (asked) => definitionOf(asked, position)),
    );
    connection.onRequest(
      ReferencesRequest.type,
      async ({ textDocument: { uri }, position, context }) => [
        ...((await this.#ask(uri, (asked) => referencesOf(asked, position, context))) ?? []),
      ],
    );
    connection.onRequest(DocumentSymbolRequest.type, async ({ textDocument: { uri } }) => [
      ...((await this.#ask(uri, symbolsOf)) ?? []),
    ]);
    connection.onRequest(CodeActionRequest.type, async ({ textDocument: { uri }, context }) => [
      ...((await this.#ask(uri, (asked) => {
        const check = (text: string) => this.#checker.check(text, asked.file);
        return fixesOf({ ...asked, check }, context);
      })) ?? []),
    ]);
  }

  /** Null: the client has not opened the document. @throws ResponseError before `initialize` and after `shutdown` */
  async #ask<Result>(
    uri: string,
    answer: (asked: Asked) => Result | Promise<Result>,
  ): Promise<Result | null> {
    if (this.#state === 'new')
      throw new ResponseError(ErrorCodes.ServerNotInitialized, 'Expected "initialize" first');
    if (this.#state === 'shutdown')
      throw new ResponseError(ErrorCodes.InvalidRequest, 'The server has received "shutdown"');
    const open = this.#open.get(uri);
    return open === undefined ? null : answer(await this.#asked(open));
  }

  /** A document with the definitions that it belongs to, and the kinds of all that are open. */
  async #asked(open: OpenDocument): Promise<Asked> {
    const { document, path } = open;
    const text = document.getText();
    const definitions =
      path === undefined
        ? []
        : await nearbyDefinitions({ path, text }, (each) => this.#load(each, [path]));
    const texts = [...this.#open.values()].map((each) => each.parsed());
    const knowledge = withTexts(this.#knowledge, [
      ...definitions.map((each) => this.#parse(each)),
      ...texts,
    ]);
    const isSample =
      path !== undefined && isSampleFile({ path, text }, definitions, knowledge.kinds);
    const file = { path, isSample, definitions };
    return { document, parsed: open.parsed(isSample), knowledge, file };
  }

  /**
   * The files of a path below the folders of the editor, also where links lead. What is open counts as it is in the editor.
   * @param documents for which it is read. @default all that are open
   * @throws Error for a path that cannot be read
   */
  async #load(path: string, documents?: readonly string[]): ReturnType<LoadFiles> {
    const open = new Map(
      [...this.#open.values()].map(({ path: file, document }) => [file, document]),
    );
    const isInside = insideOf(
      this.#folders.readable(documents ?? [...open.keys()].flatMap((file) => file ?? [])),
    );
    if (!(await isInside(path))) return [];
    const files = await this.#options.load(path);
    const inside = await Promise.all(files.map(({ file }) => isInside(file)));
    return files
      .filter((_, index) => inside[index])
      .map(({ file, text }) => ({ file, text: open.get(file)?.getText() ?? text }));
  }

  #parse({ file, text }: DefinitionFile): ParsedText {
    const last = this.#parsed.get(file);
    const parsed = last?.text === text ? last : parseText(text);
    this.#parsed.set(file, parsed);
    return parsed;
  }

  #checkAfter(delayMs: number, uri: string): void {
    this.#waiting.get(uri)?.();
    this.#stopProof(uri);
    this.#waiting.set(
      uri,
      this.#options.clock.after(delayMs, () => void this.#check(uri)),
    );
  }

  async #check(uri: string): Promise<void> {
    this.#waiting.delete(uri);
    const open = this.#open.get(uri);
    if (open === undefined) return;
    try {
      const { document, parsed, file } = await this.#asked(open);
      const { version } = document;
      const found = await this.#checker.check(document.getText(), file);
      // Another check follows a change.
      if (this.#open.get(uri) !== open || document.version !== version) return;
      const diagnostics = found.map((each) => markOf(each, { document, parsed }));
      this.#publish({ uri, version, diagnostics });
      const proving = new AbortController();
      this.#proving.set(uri, proving);
      const proven = await this.#checker.checkConversions(document.getText(), proving.signal);
      if (proven.length === 0 || proving.signal.aborted) return;
      const more = proven.map((each) => markOf(each, { document, parsed }));
      this.#publish({ uri, version, diagnostics: [...diagnostics, ...more] });
    } catch (error) {
      // An error of Homeostat; the session of the author continues.
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
      this.#log(MessageType.Error, text);
    }
  }

  /** A newer text is checked, or none. */
  #stopProof(uri: string): void {
    this.#proving.get(uri)?.abort();
    this.#proving.delete(uri);
  }

  #publish(params: PublishDiagnosticsParams): void {
    if (!this.#isOver)
      void this.#connection.sendNotification(PublishDiagnosticsNotification.type, params);
  }

  #log(type: MessageType, message: string): void {
    if (!this.#isOver)
      void this.#connection.sendNotification(LogMessageNotification.type, { type, message });
  }
}

/** A document that a client asks about. */
interface Asked extends AskedDocument {
  readonly knowledge: Knowledge;
  readonly file: CheckedFile;
}

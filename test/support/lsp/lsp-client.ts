import { once } from 'node:events';
import {
  createProtocolConnection,
  type Diagnostic,
  DidChangeTextDocumentNotification,
  DidOpenTextDocumentNotification,
  ExitNotification,
  InitializeRequest,
  type ProtocolConnection,
  PublishDiagnosticsNotification,
  type PublishDiagnosticsParams,
  ShutdownRequest,
  StreamMessageReader,
  StreamMessageWriter,
} from '#lsp/protocol.ts';

/** An editor: opens and changes documents, and collects what the server publishes. */
export class LspClient {
  readonly connection: ProtocolConnection;
  readonly published: PublishDiagnosticsParams[] = [];
  readonly #events = new EventTarget();

  /** `fromServer`: the output of the server; `toServer`: its input. */
  constructor(fromServer: NodeJS.ReadableStream, toServer: NodeJS.WritableStream) {
    this.connection = createProtocolConnection(
      new StreamMessageReader(fromServer),
      new StreamMessageWriter(toServer),
    );
    this.connection.onNotification(PublishDiagnosticsNotification.type, (params) => {
      this.published.push(params);
      this.#events.dispatchEvent(new Event('published'));
    });
    this.connection.listen();
  }

  /** @param rootUri the folder that is open. @default none */
  initialize(rootUri: string | null = null) {
    return this.connection.sendRequest(InitializeRequest.type, {
      processId: process.pid,
      rootUri,
      capabilities: {},
    });
  }

  async open(uri: string, text: string): Promise<void> {
    const textDocument = { uri, languageId: 'yaml', version: 1, text };
    await this.connection.sendNotification(DidOpenTextDocumentNotification.type, { textDocument });
  }

  async replace(uri: string, version: number, text: string): Promise<void> {
    await this.connection.sendNotification(DidChangeTextDocumentNotification.type, {
      textDocument: { uri, version },
      contentChanges: [{ text }],
    });
  }

  /** The diagnostics that are published for a version of a document: the first ones, or those after `skipped` others. */
  async diagnosticsOf(uri: string, version?: number, skipped = 0): Promise<readonly Diagnostic[]> {
    for (;;) {
      const found = this.published.filter(
        (each) => each.uri === uri && (version === undefined || each.version === version),
      )[skipped];
      if (found !== undefined) return found.diagnostics;
      await once(this.#events, 'published');
    }
  }

  async shutdown(): Promise<void> {
    await this.connection.sendRequest(ShutdownRequest.type);
    await this.connection.sendNotification(ExitNotification.type);
  }
}

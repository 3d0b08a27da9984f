import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { HoverRequest } from '#lsp/protocol.ts';
import { homeostatCommand } from '../support/executable.ts';
import { LspClient } from '../support/lsp/lsp-client.ts';
import { operatorText } from '../support/lsp/marked-text.ts';

const uri = 'file:///operators/podset.yaml';

function startServer(...flags: readonly string[]) {
  const [command, ...first] = homeostatCommand();
  const server = spawn(command, [...first, 'lsp', ...flags], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  return { server, client: new LspClient(server.stdout, server.stdin) };
}

async function exitCodeOf(server: ChildProcess): Promise<number | null> {
  if (server.exitCode === null && server.signalCode === null) await once(server, 'exit');
  return server.exitCode;
}

describe('homeostat lsp', () => {
  test('the process serves an editor over standard input and output, and exits with code 0', async () => {
    const { server, client } = startServer('--stdio');
    const { serverInfo } = await client.initialize();
    assert.equal(serverInfo?.name, 'homeostat');
    const text = operatorText('podset').replace('template:', 'tempalte:');
    await client.open(uri, text);
    const [first] = await client.diagnosticsOf(uri, 1);
    assert.equal(first?.message, 'Unknown field "tempalte". Did you mean "template"?');
    const position = { line: 2, character: 2 };
    const hover = await client.connection.sendRequest(HoverRequest.type, {
      textDocument: { uri },
      position,
    });
    assert.ok(hover !== undefined);
    await client.shutdown();
    assert.equal(await exitCodeOf(server), 0);
  });

  test('an editor that ends without "shutdown" ends the process with code 1', async () => {
    const { server, client } = startServer();
    await client.initialize();
    server.stdin.end();
    assert.equal(await exitCodeOf(server), 1);
  });

  test('SIGTERM ends the process with code 0', async () => {
    const { server, client } = startServer();
    await client.initialize();
    server.kill('SIGTERM');
    assert.equal(await exitCodeOf(server), 0);
  });
});

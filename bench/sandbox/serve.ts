// A sandbox in a process of its own: prints its address, and ends with its standard input.
import { startSandboxServer } from '#sandbox/node/index.ts';
import { benchSandbox } from './bench-sandbox.ts';

const sandbox = benchSandbox({ controllers: false, basePath: '/bench' });
const server = await startSandboxServer({ sandbox, basePath: '/bench' });
console.log(server.url);
process.stdin.resume();
process.stdin.on('end', () => process.exit(0));

// `node crowd-process.ts URL COUNT`: so many connections at a time that ask for a page without a pause. Prints the number of answers at its end.
// In reality these clients have machines of their own: here they get what the others leave of this one.
import { connect } from 'node:net';
import { constants, setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

const [url = '', count = '1'] = process.argv.slice(2);
const { hostname, port, pathname, host } = new URL(url);
const request = `GET ${pathname} HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
/** After a connection that was rejected. */
const pauseMs = 10;
let answers = 0;

setPriority(constants.priority.PRIORITY_LOW);
process.once('SIGTERM', () => {
  process.stdout.write(String(answers), () => process.exit());
});
for (let index = 0; index < Number(count); index++) void askOnAndOn();

async function askOnAndOn(): Promise<void> {
  for (;;) {
    if (await isAnswered()) answers += 1;
    else await sleep(pauseMs);
  }
}

/** Nothing of the answer is looked at: the less a client costs here, the more of them there are. */
function isAnswered(): Promise<boolean> {
  return new Promise((resolve) => {
    let bytes = 0;
    const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(request));
    socket.on('data', (chunk) => {
      bytes += chunk.length;
    });
    socket.once('error', () => undefined);
    socket.once('close', () => resolve(bytes > 0));
  });
}

import { Agent, get } from 'node:http';

/** Clients that ask one server again and again. */
export interface Crowd {
  /** How many answers they have had. */
  readonly answers: number;
  stop(): Promise<void>;
}

/** Starts so many clients, each with a connection of its own that it keeps as long as the server lets it. */
export function startCrowd(url: string, size: number): Crowd {
  const agent = new Agent({ keepAlive: true, maxSockets: size });
  let hasStopped = false;
  let answers = 0;

  async function askOnAndOn(): Promise<void> {
    while (!hasStopped) if (await isAnswered(url, agent)) answers += 1;
  }

  const clients = Array.from({ length: size }, askOnAndOn);
  return {
    get answers() {
      return answers;
    },
    async stop() {
      hasStopped = true;
      await Promise.all(clients);
      agent.destroy();
    },
  };
}

/** False: the server has closed the connection first. */
function isAnswered(url: string, agent: Agent): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(url, { agent }, (response) => {
      response.once('close', () => resolve(response.complete));
      response.resume();
    });
    request.once('error', () => resolve(false));
  });
}

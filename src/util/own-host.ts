import { foreignText } from './foreign-text.ts';

/** Names that resolve to this machine wherever they are used. The last two are those of containers for the machine that runs them. */
const ownNames: ReadonlySet<string> = new Set([
  'localhost',
  'localhost.',
  'host.docker.internal',
  'host.containers.internal',
]);
const octet = '(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)';
const ipv4 = new RegExp(`^${octet}(?:\\.${octet}){3}$`);
/** The port does not matter: that of a forward is another one. */
const hostAndPort = /^(?<name>\[[\da-f:.]+\]|[^:[\]]+)(?::\d{1,5})?$/i;

/**
 * Why a server of this machine rejects a request with this `Host`; undefined: it does not. A web page reaches the server by a name that its
 * author lets resolve to 127.0.0.1 (DNS rebinding). No author controls where an IP address or one of our names leads. Pure.
 */
export function hostProblem(host: string): string | undefined {
  const name = hostAndPort.exec(host)?.groups?.name?.toLowerCase() ?? '';
  if (ownNames.has(name) || ipv4.test(name) || isIpv6(name)) return undefined;
  return `The host "${foreignText(host, 100)}" is not permitted: a web page may have chosen the name. Use an IP address, "localhost", "host.docker.internal" or "host.containers.internal"`;
}

function isIpv6(name: string): boolean {
  return name.startsWith('[') && URL.canParse(`http://${name}/`);
}

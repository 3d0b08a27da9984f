import { familyOf, ipSet, parseRange, withoutBrackets } from '../client/ip-address.ts';

/** The variables of the environment. */
export type ProxyEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * The proxy for a URL, from `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` (or in lower case): a list of `*`, names with all names below them,
 * addresses and CIDRs, each with an optional port. Undefined: none. Pure.
 */
export function proxySettings(environment: ProxyEnvironment): (url: URL) => string | undefined {
  const value = (name: string) => {
    const text = environment[name.toLowerCase()] ?? environment[name];
    return text === undefined || text === '' ? undefined : text;
  };
  const exempt = (value('NO_PROXY') ?? '')
    .split(',')
    .map((each) => each.trim().toLowerCase())
    .filter((each) => each !== '');
  return (url) => {
    const proxy = value(url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY');
    if (proxy === undefined || exempt.some((rule) => isExempt(url, rule))) return undefined;
    return proxy.includes('://') ? proxy : `http://${proxy}`;
  };
}

function isExempt({ hostname, port, protocol }: URL, rule: string): boolean {
  if (rule === '*') return true;
  const host = withoutBrackets(hostname).toLowerCase().replace(/\.$/, '');
  const range = parseRange(rule);
  if (range !== undefined) return ipSet([range])(host);
  const [, name = rule, rulePort] = /^(.*):(\d{1,5})$/.exec(rule) ?? [];
  const standardPort = protocol === 'https:' ? '443' : '80';
  if (rulePort !== undefined && rulePort !== (port === '' ? standardPort : port)) return false;
  const plain = withoutBrackets(name).replace(/^\*?\./, '');
  return host === plain || (familyOf(host) === undefined && host.endsWith(`.${plain}`));
}

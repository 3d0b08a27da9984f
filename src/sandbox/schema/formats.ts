const ipv4 = /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/;
const uuid = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;

/** The formats that the server validates; all others are ignored. */
const checks: Readonly<Record<string, (text: string) => boolean>> = {
  datetime: isDateTime,
  date: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)),
  ipv4: (text) => ipv4.test(text),
  ipv6: isIpv6,
  mac: (text) => /^(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}$/i.test(text),
  uuid: (text) => uuid.test(text),
  byte: (text) => /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text),
  email: (text) => /^[^\s@<>]+@[^\s@<>]+$/.test(text),
  hostname: isHostname,
  uri: (text) => URL.canParse(text) || /^\/[^\s]*$/.test(text),
  duration: isDuration,
  cidr: isCidr,
};

/** Returns whether a text has this format; true for formats that are not validated. */
export function hasFormat(format: string, text: string): boolean {
  const name = format.replaceAll('-', '');
  return !Object.hasOwn(checks, name) || checks[name]?.(text) !== false;
}

function isDateTime(text: string): boolean {
  const shape = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:?\d\d)?$/;
  return shape.test(text) && !Number.isNaN(Date.parse(text.replace(' ', 'T')));
}

function isIpv6(text: string): boolean {
  return text.includes(':') && URL.canParse(`http://[${text}]/`);
}

function isCidr(text: string): boolean {
  const [address = '', bits = '', ...rest] = text.split('/');
  if (rest.length > 0 || !/^\d{1,3}$/.test(bits)) return false;
  return (ipv4.test(address) && Number(bits) <= 32) || (isIpv6(address) && Number(bits) <= 128);
}

function isHostname(text: string): boolean {
  return (
    text.length <= 255 &&
    /^[a-zA-Z0-9](?:[-a-zA-Z0-9]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[-a-zA-Z0-9]{0,61}[a-zA-Z0-9])?)*\.?$/.test(
      text,
    )
  );
}

/** Go's `1h30m`, and the server's own units for longer durations (`3 days`). */
function isDuration(text: string): boolean {
  const go = /^[+-]?(?:\d+(?:\.\d*)?(?:ns|us|µs|ms|s|m|h))+$/;
  const words =
    /^(?:\d+\s*(?:ns|nanoseconds?|us|µs|microseconds?|ms|milliseconds?|s|sec|seconds?|m|min|minutes?|h|hr|hours?|d|days?|w|wk|weeks?)\s*)+$/;
  return text === '0' || go.test(text) || words.test(text);
}

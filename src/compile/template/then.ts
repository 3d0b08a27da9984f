/** Goes on with a value that is there or will be: at once in the first case, so that what is synchronous stays it. */
export function then<T, R>(
  value: T | Promise<T>,
  next: (value: T) => R | Promise<R>,
): R | Promise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}

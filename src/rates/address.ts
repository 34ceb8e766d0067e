/** What the URL of a Redis server looks like, for messages. */
export const redisUrlForm = 'redis[s]://[[user]:password@]host[:port][/database]';

/** Whether a URL has that form; nothing is said of a host that nobody listens at. */
export function isRedisUrl(text: string): boolean {
  try {
    const { protocol, username, password, hostname, pathname } = new URL(text);
    // Throws where a per cent sign is no escape.
    decodeURIComponent(username + password);
    return /^rediss?:$/.test(protocol) && hostname !== '' && /^(\/[0-9]*)?$/.test(pathname);
  } catch {
    return false;
  }
}

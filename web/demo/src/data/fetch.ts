// Reading the files that the site serves under data/.

export type DataProblem = 'missing' | 'offline' | 'unreadable';

/** A data file that could not be had; `problem` decides what the page advises. */
export class DataError extends Error {
  constructor(
    readonly problem: DataProblem,
    readonly url: string,
    detail: string,
  ) {
    super(`${url}: ${detail}`);
    this.name = 'DataError';
  }
}

/** fetch() that fails for everything but the file itself. */
export async function fetchData(url: string, init: RequestInit = {}): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(url, init);
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new DataError('offline', url, 'the server did not answer');
  }
  // Servers of single-page sites answer a missing file with their HTML page and status 200.
  const isPage = response.headers.get('content-type')?.startsWith('text/html') ?? false;
  if (response.status === 404 || isPage) throw new DataError('missing', url, 'not on this server');
  if (!response.ok) throw new DataError('unreadable', url, `status ${response.status}`);
  return response;
}

/** Whether the server has the file, and its size when it tells; asks for the headers only. */
export async function probeData(url: string): Promise<{ bytes: number | undefined } | undefined> {
  try {
    const response = await fetchData(url, { method: 'HEAD' });
    const length = response.headers.get('content-length');
    return { bytes: length === null ? undefined : Number(length) };
  } catch {
    return undefined;
  }
}

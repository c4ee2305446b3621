import { ConnectionError, failureOf, isOfProxy, MillwrightError, type Upload } from './client.ts';
import { connection } from './connection.ts';

/** Uploads a file and reports the part that is sent. XMLHttpRequest, because `fetch` reports no progress. */
export function upload(
  file: File,
  onProgress: (part: number) => void,
  signal: AbortSignal,
  path = '/v1/uploads',
): Promise<Upload> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', path);
    request.upload.onprogress = ({ loaded, total }) => onProgress(total === 0 ? 1 : loaded / total);
    request.onload = () => {
      if (isOfProxy(request.status)) {
        connection.doubted();
        return reject(new ConnectionError('The service did not answer when the file was sent.'));
      }
      const response = new Response(request.responseText, { status: request.status });
      if (!response.ok) return void failureOf(response).then(reject);
      try {
        resolve((JSON.parse(request.responseText) as { upload: Upload }).upload);
      } catch {
        reject(new MillwrightError(request.status, null, new Headers()));
      }
    };
    request.onerror = () => {
      connection.lost();
      reject(new ConnectionError('The connection was lost while the file was sent.'));
    };
    request.onabort = () => reject(new DOMException('The upload was stopped.', 'AbortError'));
    signal.addEventListener('abort', () => request.abort(), { once: true });
    const form = new FormData();
    form.append('file', file, file.name);
    request.send(form);
  });
}

// Requests that may be lost on the way: sent with one key until they are answered.

/** A name for one request, however often it is sent. */
export function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * Send until a worker answers, under one key. Resolves with its answer; rejects with its refusal,
 * which sending again would not change.
 */
export async function send(path, body, key = newKey()) {
  for (let tries = 0; ; tries++) {
    const response = await once(path, body, key);
    if (response?.ok) return response.json();
    if (response && response.status < 500) {
      throw new Error((await response.json().catch(() => ({}))).error ?? response.statusText);
    }
    await new Promise((resolve) => setTimeout(resolve, Math.min(200 * 2 ** tries, 5000)));
  }
}

/** The response, null if there was none. */
async function once(path, body, key) {
  try {
    return await fetch(path, {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": key },
      body: JSON.stringify(body),
    });
  } catch {
    return null; // that worker is gone; another one has the port
  }
}

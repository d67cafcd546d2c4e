/** Lets waiting messages be handled, such as one that cancels this job: a promise alone would not, and a
 * timer would wait for milliseconds. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}

import { useEffect, useState } from 'react';

/** What is typed, once the typing pauses: it is asked of the service. */
export function useLater(text: string, ms = 200): string {
  const [later, setLater] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setLater(text), ms);
    return () => clearTimeout(timer);
  }, [text, ms]);
  return later;
}

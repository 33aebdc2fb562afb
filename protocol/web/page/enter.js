// Requests the page again from a page that a link of another site has opened.
//
// The browser withheld the cookie from the first request, and sends it with the second one, which
// this site makes. The query differs, because the same address would only scroll to the fragment.

if (!window.location.search) window.location.replace(`/?link${window.location.hash}`);

// Command lanyard-bridge carries the identity of exec sessions on clusters without KEP-6035.
package main

func main() {}
